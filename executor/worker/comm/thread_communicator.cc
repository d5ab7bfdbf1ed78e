#include "executor/worker/comm/thread_communicator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "executor/worker/comm/thread_group.h"

namespace meshwright::worker {
namespace {

class ThreadDoneTime final : public DoneTime {
 public:
  ThreadDoneTime(std::shared_ptr<const Completion> completion,
                 std::shared_ptr<const StreamOrder> order)
      : completion_(std::move(completion)), order_(std::move(order)) {}

  std::optional<double> seconds() const override {
    return completion_->issued ? order_->Seconds(*completion_->end) : std::nullopt;
  }

 private:
  const std::shared_ptr<const Completion> completion_;
  const std::shared_ptr<const StreamOrder> order_;
};

class ThreadWork final : public PendingWork {
 public:
  ThreadWork(std::shared_ptr<ThreadGroup> group, std::shared_ptr<StreamOrder> order,
             std::shared_ptr<Completion> completion, std::vector<at::Tensor> tensors,
             const char* operation)
      : group_(std::move(group)),
        order_(std::move(order)),
        completion_(std::move(completion)),
        tensors_(std::move(tensors)),
        operation_(operation) {}

  void Wait() override {
    group_->Wait(*completion_, operation_);
    order_->ComeAfter(*completion_->end);
  }
  std::shared_ptr<const DoneTime> WatchDone() override {
    return std::make_shared<ThreadDoneTime>(completion_, order_);
  }

 private:
  std::shared_ptr<ThreadGroup> group_;
  std::shared_ptr<StreamOrder> order_;
  std::shared_ptr<Completion> completion_;
  // If the work is dropped without a wait, the group keeps them until the operation is issued, and
  // the order until its end.
  const std::vector<at::Tensor> tensors_;
  const char* operation_;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadGroup> group, int32_t rank,
                     std::shared_ptr<StreamOrder> order)
      : group_(std::move(group)), rank_(rank), order_(std::move(order)) {}
  ~ThreadCommunicator() override { group_->Leave(rank_); }
  ThreadCommunicator(const ThreadCommunicator&) = delete;
  ThreadCommunicator& operator=(const ThreadCommunicator&) = delete;

  int32_t rank() const override { return rank_; }
  int32_t size() const override { return group_->size(); }

  Pending AllReduce(const at::Tensor& tensor, Reduction reduction) override {
    return Post("all-reduce", {.kind = planner::CollectiveKind::kAllReduce,
                               .reduction = reduction,
                               .output = tensor,
                               .input = tensor});
  }
  Pending AllGather(const at::Tensor& output, const at::Tensor& input) override {
    return Post("all-gather",
                {.kind = planner::CollectiveKind::kAllGather, .output = output, .input = input});
  }
  Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) override {
    return Post(
        "reduce-scatter",
        {.kind = planner::CollectiveKind::kReduceScatter, .output = output, .input = input});
  }
  Pending AllToAll(const at::Tensor& output, const std::vector<int64_t>& received_rows,
                   const at::Tensor& input, const std::vector<int64_t>& sent_rows) override {
    return Post("all-to-all", {.kind = planner::CollectiveKind::kAllToAll,
                               .output = output,
                               .input = input,
                               .received_rows = received_rows,
                               .sent_rows = sent_rows});
  }
  Pending Broadcast(const at::Tensor& tensor, int32_t root) override {
    return Post("broadcast", {.kind = planner::CollectiveKind::kBroadcast,
                              .root = root,
                              .output = tensor,
                              .input = tensor});
  }
  Pending Send(const at::Tensor& tensor, int32_t to) override {
    return Work("send", group_->Send(rank_, to, tensor, *order_), {tensor});
  }
  Pending Receive(const at::Tensor& tensor, int32_t from) override {
    return Work("receive", group_->Receive(from, rank_, tensor, *order_), {tensor});
  }

 private:
  Pending Post(const char* operation, CollectiveCall call) {
    std::vector<at::Tensor> tensors = {call.output, call.input};
    return Work(operation, group_->Post(rank_, std::move(call), *order_), std::move(tensors));
  }
  Pending Work(const char* operation, std::shared_ptr<Completion> completion,
               std::vector<at::Tensor> tensors) {
    return Pending(std::make_unique<ThreadWork>(group_, order_, std::move(completion),
                                                std::move(tensors), operation));
  }

  const std::shared_ptr<ThreadGroup> group_;
  const int32_t rank_;
  const std::shared_ptr<StreamOrder> order_;
};

}  // namespace

ThreadHub::ThreadHub() = default;
ThreadHub::~ThreadHub() = default;

std::unique_ptr<Communicator> ThreadHub::Join(const GroupSpec& group, int32_t rank,
                                              std::shared_ptr<StreamOrder> order) {
  const auto place = std::find(group.ranks.begin(), group.ranks.end(), rank);
  if (place == group.ranks.end()) {
    throw CommunicationError("rank " + std::to_string(rank) + " is not in group " + group.name);
  }
  // The first member distinguishes groups of one name.
  const std::string key = group.name + "/" + std::to_string(group.ranks.front());
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ThreadGroup>& shared = groups_[key];
  if (shared == nullptr) {
    shared =
        std::make_shared<ThreadGroup>(key, static_cast<int32_t>(group.ranks.size()), group.timeout);
  }
  return std::make_unique<ThreadCommunicator>(
      shared, static_cast<int32_t>(place - group.ranks.begin()), std::move(order));
}

}  // namespace meshwright::worker
