#include "executor/worker/backend_communicator.h"

#include <algorithm>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

namespace meshwright {
namespace {

class BackendWork final : public PendingWork {
 public:
  BackendWork(const char* operation, c10::intrusive_ptr<c10d::Work> work,
              std::vector<at::Tensor> tensors, const WatchWork& watch)
      : operation_(operation),
        work_(std::move(work)),
        tensors_(std::move(tensors)),
        watch_(watch) {}

  void Wait() override {
    WithCommunicationErrors(operation_, [&] { return work_->wait(); });
  }
  std::shared_ptr<const DoneTime> WatchDone() override { return watch_(*work_); }

 private:
  const char* operation_;
  c10::intrusive_ptr<c10d::Work> work_;
  std::vector<at::Tensor> tensors_;
  const WatchWork& watch_;
};

class BackendCommunicator final : public Communicator {
 public:
  BackendCommunicator(c10::intrusive_ptr<c10d::Backend> group, WatchWork watch)
      : group_(std::move(group)), watch_(std::move(watch)) {}

  int32_t rank() const override { return group_->getRank(); }
  int32_t size() const override { return group_->getSize(); }

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
    return Pending(std::make_unique<BackendWork>(
        operation, WithCommunicationErrors(operation, call), std::move(tensors), watch_));
  }

  const c10::intrusive_ptr<c10d::Backend> group_;
  const WatchWork watch_;
};

}  // namespace

std::unique_ptr<Communicator> MakeBackendCommunicator(c10::intrusive_ptr<c10d::Backend> group,
                                                      WatchWork watch) {
  return std::make_unique<BackendCommunicator>(std::move(group), std::move(watch));
}

GroupPlace PlaceIn(const c10::intrusive_ptr<c10d::Store>& store, const GroupSpec& group,
                   int32_t rank) {
  const auto position = std::find(group.ranks.begin(), group.ranks.end(), rank);
  // Groups of one name are told apart by their first member.
  const std::string prefix = group.name + "/" + std::to_string(group.ranks.front());
  return {.index = static_cast<int32_t>(position - group.ranks.begin()),
          .size = static_cast<int32_t>(group.ranks.size()),
          .store = c10::make_intrusive<c10d::PrefixStore>(prefix, store)};
}

}  // namespace meshwright
