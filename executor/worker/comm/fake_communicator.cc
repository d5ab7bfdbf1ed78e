#include "executor/worker/comm/fake_communicator.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "executor/worker/comm/memory_account.h"

namespace meshwright::worker {
namespace {

// Holds the tensors as long as a real operation would.
class DoneWork final : public PendingWork {
 public:
  explicit DoneWork(std::vector<at::Tensor> tensors) : tensors_(std::move(tensors)) {}
  void Wait() override {}

 private:
  const std::vector<at::Tensor> tensors_;
};

class FakeCommunicator final : public Communicator {
 public:
  FakeCommunicator(int32_t rank, int32_t size, std::function<void(const FakeCall&)> report)
      : rank_(rank), size_(size), report_(std::move(report)) {}

  int32_t rank() const override { return rank_; }
  int32_t size() const override { return size_; }

  Pending AllReduce(const at::Tensor& tensor, Reduction reduction) override {
    const ScopedMemoryAccount nobody(nullptr);
    if (reduction == Reduction::kSum) tensor.mul_(size_);
    return Done(planner::CollectiveKind::kAllReduce, tensor, {tensor});
  }

  Pending AllGather(const at::Tensor& output, const at::Tensor& input) override {
    const ScopedMemoryAccount nobody(nullptr);
    CheckParts("all-gather", output, input);
    for (int32_t rank = 0; rank < size_; ++rank) Part(output, rank).copy_(input.view({-1}));
    return Done(planner::CollectiveKind::kAllGather, output, {output, input});
  }

  Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) override {
    const ScopedMemoryAccount nobody(nullptr);
    CheckParts("reduce-scatter", input, output);
    output.view({-1}).copy_(Part(input, rank_)).mul_(size_);
    return Done(planner::CollectiveKind::kReduceScatter, input, {output, input});
  }

  // Takes the other ranks to send what this rank sends itself, and noise where row counts differ.
  Pending AllToAll(const at::Tensor& output, const std::vector<int64_t>& received_rows,
                   const at::Tensor& input, const std::vector<int64_t>& sent_rows) override {
    const ScopedMemoryAccount nobody(nullptr);
    const auto own = static_cast<size_t>(rank_);
    const int64_t rows = sent_rows.at(own);
    CheckRows(received_rows.at(own), rows);
    CheckRows(std::accumulate(sent_rows.begin(), sent_rows.end(), int64_t{0}), input.size(0));
    CheckRows(std::accumulate(received_rows.begin(), received_rows.end(), int64_t{0}),
              output.size(0));
    int64_t first = 0;
    for (size_t rank = 0; rank < own; ++rank) first += sent_rows[rank];
    int64_t filled = 0;
    for (const int64_t received : received_rows) {
      const at::Tensor part = output.narrow(0, filled, received);
      if (received == rows) {
        part.copy_(input.narrow(0, first, rows));
      } else if (at::isFloatingType(part.scalar_type())) {
        part.uniform_(-1.0, 1.0);
      } else {
        part.zero_();
      }
      filled += received;
    }
    return Done(planner::CollectiveKind::kAllToAll,
                output.nbytes() > input.nbytes() ? output : input, {output, input});
  }

  Pending Broadcast(const at::Tensor& tensor, int32_t root) override {
    CheckPeer(root);
    return Done(planner::CollectiveKind::kBroadcast, tensor, {tensor});
  }

  Pending Send(const at::Tensor& tensor, int32_t to) override {
    CheckPeer(to);
    return Done(planner::CollectiveKind::kSend, tensor, {tensor});
  }

  Pending Receive(const at::Tensor& tensor, int32_t from) override {
    const ScopedMemoryAccount nobody(nullptr);
    CheckPeer(from);
    tensor.uniform_(-1.0, 1.0);
    return Done(planner::CollectiveKind::kReceive, tensor, {tensor});
  }

 private:
  at::Tensor Part(const at::Tensor& whole, int32_t rank) const {
    const int64_t length = whole.numel() / size_;
    return whole.view({-1}).narrow(0, rank * length, length);
  }

  void CheckParts(const char* operation, const at::Tensor& whole, const at::Tensor& part) const {
    if (whole.numel() == part.numel() * size_ && whole.scalar_type() == part.scalar_type()) return;
    throw CommunicationError(std::string(operation) + ": " + std::to_string(whole.numel()) +
                             " elements are not " + std::to_string(size_) + " parts of " +
                             std::to_string(part.numel()) + ", or their types differ");
  }

  void CheckRows(int64_t received, int64_t own) const {
    if (received == own) return;
    throw CommunicationError("all-to-all: " + std::to_string(received) + " rows where there are " +
                             std::to_string(own));
  }

  void CheckPeer(int32_t peer) const {
    if (peer >= 0 && peer < size_) return;
    throw CommunicationError("rank " + std::to_string(peer) + " is not in a group of " +
                             std::to_string(size_));
  }

  Pending Done(planner::CollectiveKind operation, const at::Tensor& buffer,
               std::vector<at::Tensor> tensors) const {
    if (report_) {
      report_({.operation = operation, .bytes = static_cast<int64_t>(buffer.nbytes())});
    }
    return Pending(std::make_unique<DoneWork>(std::move(tensors)));
  }

  const int32_t rank_;
  const int32_t size_;
  const std::function<void(const FakeCall&)> report_;
};

}  // namespace

std::unique_ptr<Communicator> MakeFakeCommunicator(int32_t rank, int32_t size,
                                                   std::function<void(const FakeCall&)> report) {
  if (rank < 0 || rank >= size) {
    throw CommunicationError("rank " + std::to_string(rank) + " is not in a group of " +
                             std::to_string(size));
  }
  return std::make_unique<FakeCommunicator>(rank, size, std::move(report));
}

std::unique_ptr<Communicator> MakeFakeCommunicator(const GroupSpec& group, int32_t rank) {
  const auto place = std::find(group.ranks.begin(), group.ranks.end(), rank);
  return MakeFakeCommunicator(static_cast<int32_t>(place - group.ranks.begin()),
                              static_cast<int32_t>(group.ranks.size()), nullptr);
}

}  // namespace meshwright::worker
