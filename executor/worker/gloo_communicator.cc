#include "executor/worker/gloo_communicator.h"

#include <algorithm>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace meshwright {
namespace {

// Runs `call` with Torch's and gloo's errors turned into CommunicationError.
template <typename Call>
auto Translated(const char* operation, const Call& call) {
  try {
    return call();
  } catch (const c10::Error& error) {
    throw CommunicationError(std::string(operation) + ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw CommunicationError(std::string(operation) + ": " + error.what());
  }
}

class GlooWork final : public PendingWork {
 public:
  GlooWork(const char* operation, c10::intrusive_ptr<c10d::Work> work,
           std::vector<at::Tensor> tensors)
      : operation_(operation), work_(std::move(work)), tensors_(std::move(tensors)) {}

  void Wait() override {
    Translated(operation_, [&] { return work_->wait(); });
  }

 private:
  const char* operation_;
  c10::intrusive_ptr<c10d::Work> work_;
  std::vector<at::Tensor> tensors_;
};

class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(c10::intrusive_ptr<c10d::ProcessGroupGloo> group, int32_t rank, int32_t size)
      : group_(std::move(group)), rank_(rank), size_(size) {}

  int32_t rank() const override { return rank_; }
  int32_t size() const override { return size_; }

  Pending AllReduce(const at::Tensor& tensor, Reduction reduction) override {
    c10d::AllreduceOptions options;
    options.reduceOp = reduction == Reduction::kSum ? c10d::ReduceOp::SUM : c10d::ReduceOp::MAX;
    std::vector<at::Tensor> tensors = {tensor};
    return Issue("all-reduce", {tensor}, [&] { return group_->allreduce(tensors, options); });
  }

  Pending AllGather(const at::Tensor& output, const at::Tensor& input) override {
    at::Tensor to = output;
    at::Tensor from = input;
    return Issue("all-gather", {output, input},
                 [&] { return group_->_allgather_base(to, from, c10d::AllgatherOptions()); });
  }

  Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) override {
    at::Tensor to = output;
    at::Tensor from = input;
    return Issue("reduce-scatter", {output, input}, [&] {
      return group_->_reduce_scatter_base(to, from, c10d::ReduceScatterOptions());
    });
  }

  Pending Broadcast(const at::Tensor& tensor, int32_t root) override {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    std::vector<at::Tensor> tensors = {tensor};
    return Issue("broadcast", {tensor}, [&] { return group_->broadcast(tensors, options); });
  }

  Pending Send(const at::Tensor& tensor, int32_t to) override {
    std::vector<at::Tensor> tensors = {tensor};
    return Issue("send", {tensor}, [&] { return group_->send(tensors, to, kTag); });
  }

  Pending Receive(const at::Tensor& tensor, int32_t from) override {
    std::vector<at::Tensor> tensors = {tensor};
    return Issue("receive", {tensor}, [&] { return group_->recv(tensors, from, kTag); });
  }

 private:
  static constexpr int kTag = 0;

  template <typename Call>
  Pending Issue(const char* operation, std::vector<at::Tensor> tensors, const Call& call) {
    return Pending(
        std::make_unique<GlooWork>(operation, Translated(operation, call), std::move(tensors)));
  }

  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  const int32_t rank_;
  const int32_t size_;
};

}  // namespace

std::unique_ptr<Communicator> ConnectGloo(const c10::intrusive_ptr<c10d::Store>& store,
                                          const GroupSpec& group, int32_t rank) {
  const auto size = static_cast<int32_t>(group.ranks.size());
  const auto position = std::find(group.ranks.begin(), group.ranks.end(), rank);
  const auto index = static_cast<int32_t>(position - group.ranks.begin());
  // Ranks of other groups use the same store; the first member's rank tells groups of one name
  // apart.
  const std::string prefix = group.name + "/" + std::to_string(group.ranks.front());
  return Translated("connect", [&]() -> std::unique_ptr<Communicator> {
    auto options = c10d::ProcessGroupGloo::Options::create(group.timeout);
    options->threads = 1;
    options->devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1", /*lazyInit=*/false));
    auto process_group = c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::PrefixStore>(prefix, store), index, size, std::move(options));
    return std::make_unique<GlooCommunicator>(std::move(process_group), index, size);
  });
}

}  // namespace meshwright
