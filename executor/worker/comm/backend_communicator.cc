#include "executor/worker/comm/backend_communicator.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

namespace meshwright::worker {
namespace {

// Holds the tensors of one operation until they are returned or, where they never are, until the
// group drops its aliases.
class Loan {
 public:
  explicit Loan(TensorHold hold) : hold_(hold) {}

  at::Tensor Lend(const at::Tensor& tensor) {
    lent_->push_back(tensor);
    if (hold_ == TensorHold::kOwn) return tensor;
    return at::from_blob(
        tensor.data_ptr(), tensor.sizes(), tensor.strides(), [lent = lent_](void*) {},
        tensor.options());
  }
  void Return() { lent_->clear(); }

 private:
  TensorHold hold_;
  std::shared_ptr<std::vector<at::Tensor>> lent_ = std::make_shared<std::vector<at::Tensor>>();
};

class BackendWork final : public PendingWork {
 public:
  BackendWork(const char* operation, c10::intrusive_ptr<c10d::Work> work, Loan loan,
              const WatchWork& watch)
      : operation_(operation), work_(std::move(work)), loan_(std::move(loan)), watch_(watch) {}

  void Wait() override {
    WithCommunicationErrors(operation_, [&] { return work_->wait(); });
    loan_.Return();
  }
  std::shared_ptr<const DoneTime> WatchDone() override { return watch_(*work_); }

 private:
  const char* operation_;
  c10::intrusive_ptr<c10d::Work> work_;
  Loan loan_;
  const WatchWork& watch_;
};

class BackendCommunicator final : public Communicator {
 public:
  BackendCommunicator(c10::intrusive_ptr<c10d::Backend> group, TensorHold hold, WatchWork watch)
      : group_(std::move(group)), hold_(hold), watch_(std::move(watch)) {}

  int32_t rank() const override { return group_->getRank(); }
  int32_t size() const override { return group_->getSize(); }

  Pending AllReduce(const at::Tensor& tensor, Reduction reduction) override {
    c10d::AllreduceOptions options;
    options.reduceOp = reduction == Reduction::kSum ? c10d::ReduceOp::SUM : c10d::ReduceOp::MAX;
    return Issue("all-reduce", [&](Loan& loan) {
      std::vector<at::Tensor> tensors = {loan.Lend(tensor)};
      return group_->allreduce(tensors, options);
    });
  }

  Pending AllGather(const at::Tensor& output, const at::Tensor& input) override {
    return Issue("all-gather", [&](Loan& loan) {
      at::Tensor to = loan.Lend(output);
      at::Tensor from = loan.Lend(input);
      return group_->_allgather_base(to, from, c10d::AllgatherOptions());
    });
  }

  Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) override {
    return Issue("reduce-scatter", [&](Loan& loan) {
      at::Tensor to = loan.Lend(output);
      at::Tensor from = loan.Lend(input);
      return group_->_reduce_scatter_base(to, from, c10d::ReduceScatterOptions());
    });
  }

  Pending AllToAll(const at::Tensor& output, const std::vector<int64_t>& received_rows,
                   const at::Tensor& input, const std::vector<int64_t>& sent_rows) override {
    return Issue("all-to-all", [&](Loan& loan) {
      at::Tensor to = loan.Lend(output);
      at::Tensor from = loan.Lend(input);
      std::vector<int64_t> received = received_rows;
      std::vector<int64_t> sent = sent_rows;
      return group_->alltoall_base(to, from, received, sent, c10d::AllToAllOptions());
    });
  }

  Pending Broadcast(const at::Tensor& tensor, int32_t root) override {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    return Issue("broadcast", [&](Loan& loan) {
      std::vector<at::Tensor> tensors = {loan.Lend(tensor)};
      return group_->broadcast(tensors, options);
    });
  }

  Pending Send(const at::Tensor& tensor, int32_t to) override {
    return Issue("send", [&](Loan& loan) {
      std::vector<at::Tensor> tensors = {loan.Lend(tensor)};
      return group_->send(tensors, to, kTag);
    });
  }

  Pending Receive(const at::Tensor& tensor, int32_t from) override {
    return Issue("receive", [&](Loan& loan) {
      std::vector<at::Tensor> tensors = {loan.Lend(tensor)};
      return group_->recv(tensors, from, kTag);
    });
  }

  // Batched, since Torch executes separate operations sequentially.
  PendingExchange Exchange(const at::Tensor& outgoing, int32_t to, const at::Tensor& incoming,
                           int32_t from) override {
    if (!group_->supportsCoalescing()) {
      return Communicator::Exchange(outgoing, to, incoming, from);
    }
    Loan sent(hold_);
    Loan received(hold_);
    const auto work = WithCommunicationErrors("exchange", [&] {
      std::vector<at::Tensor> out = {sent.Lend(outgoing)};
      std::vector<at::Tensor> in = {received.Lend(incoming)};
      group_->startCoalescing();
      group_->send(out, to, kTag);
      group_->recv(in, from, kTag);
      return group_->endCoalescing();
    });
    Pending sending = MakePending("send", work, std::move(sent));
    Pending receiving = MakePending("receive", work, std::move(received));
    return {.sent = std::move(sending), .received = std::move(receiving)};
  }

  void Close() override {
    WithCommunicationErrors("close", [&] { group_->shutdown(); });
  }

 private:
  static constexpr int kTag = 0;

  template <typename Call>
  Pending Issue(const char* operation, const Call& call) {
    Loan loan(hold_);
    auto work = WithCommunicationErrors(operation, [&] { return call(loan); });
    return MakePending(operation, std::move(work), std::move(loan));
  }

  Pending MakePending(const char* operation, c10::intrusive_ptr<c10d::Work> work, Loan loan) const {
    return Pending(
        std::make_unique<BackendWork>(operation, std::move(work), std::move(loan), watch_));
  }

  const c10::intrusive_ptr<c10d::Backend> group_;
  const TensorHold hold_;
  const WatchWork watch_;
};

}  // namespace

std::unique_ptr<Communicator> MakeBackendCommunicator(c10::intrusive_ptr<c10d::Backend> group,
                                                      TensorHold hold, WatchWork watch) {
  return std::make_unique<BackendCommunicator>(std::move(group), hold, std::move(watch));
}

GroupPlace PlaceIn(const c10::intrusive_ptr<c10d::Store>& store, const GroupSpec& group,
                   int32_t rank) {
  const auto position = std::find(group.ranks.begin(), group.ranks.end(), rank);
  // The first member distinguishes groups of one name.
  const std::string prefix = group.name + "/" + std::to_string(group.ranks.front());
  return {.index = static_cast<int32_t>(position - group.ranks.begin()),
          .size = static_cast<int32_t>(group.ranks.size()),
          .store = c10::make_intrusive<c10d::PrefixStore>(prefix, store)};
}

}  // namespace meshwright::worker
