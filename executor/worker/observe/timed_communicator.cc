#include "executor/worker/observe/timed_communicator.h"

#include <utility>

namespace meshwright::worker {
namespace {

class TimedWork final : public PendingWork {
 public:
  TimedWork(Pending work, StepRecorder& recorder, StepRecorder::Operation operation,
            trial::Phase phase)
      : work_(std::move(work)), recorder_(recorder), operation_(operation), phase_(phase) {}

  void Wait() override {
    const PhaseClock::Switched begin = recorder_.clock().Switch(phase_);
    work_.Wait();
    const PhaseClock::Switched end = recorder_.clock().Switch(begin.ended);
    recorder_.Waited(operation_, begin.at, end.at);
  }

 private:
  Pending work_;
  StepRecorder& recorder_;
  const StepRecorder::Operation operation_;
  const trial::Phase phase_;
};

class TimedCommunicator final : public Communicator {
 public:
  TimedCommunicator(std::unique_ptr<Communicator> communicator, TimedGroup group,
                    StepRecorder& recorder)
      : communicator_(std::move(communicator)), group_(std::move(group)), recorder_(recorder) {}

  int32_t rank() const override { return communicator_->rank(); }
  int32_t size() const override { return communicator_->size(); }

  Pending AllReduce(const at::Tensor& tensor, Reduction reduction) override {
    return Time(planner::CollectiveKind::kAllReduce, tensor,
                [&] { return communicator_->AllReduce(tensor, reduction); });
  }
  Pending AllGather(const at::Tensor& output, const at::Tensor& input) override {
    return Time(planner::CollectiveKind::kAllGather, output,
                [&] { return communicator_->AllGather(output, input); });
  }
  Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) override {
    return Time(planner::CollectiveKind::kReduceScatter, input,
                [&] { return communicator_->ReduceScatter(output, input); });
  }
  Pending AllToAll(const at::Tensor& output, const std::vector<int64_t>& received_rows,
                   const at::Tensor& input, const std::vector<int64_t>& sent_rows) override {
    return Time(planner::CollectiveKind::kAllToAll,
                output.nbytes() > input.nbytes() ? output : input,
                [&] { return communicator_->AllToAll(output, received_rows, input, sent_rows); });
  }
  Pending Broadcast(const at::Tensor& tensor, int32_t root) override {
    return Time(planner::CollectiveKind::kBroadcast, tensor,
                [&] { return communicator_->Broadcast(tensor, root); });
  }
  Pending Send(const at::Tensor& tensor, int32_t to) override {
    return Time(
        planner::CollectiveKind::kSend, tensor, [&] { return communicator_->Send(tensor, to); },
        to);
  }
  Pending Receive(const at::Tensor& tensor, int32_t from) override {
    return Time(
        planner::CollectiveKind::kReceive, tensor,
        [&] { return communicator_->Receive(tensor, from); }, from);
  }
  PendingExchange Exchange(const at::Tensor& outgoing, int32_t to, const at::Tensor& incoming,
                           int32_t from) override {
    const PhaseClock::Switched issued = recorder_.clock().Switch(group_.phase);
    const auto send = Record(planner::CollectiveKind::kSend, outgoing, to, issued.at);
    const auto receive = Record(planner::CollectiveKind::kReceive, incoming, from, issued.at);
    PendingExchange work = communicator_->Exchange(outgoing, to, incoming, from);
    PendingExchange timed = {.sent = Watch(std::move(work.sent), send),
                             .received = Watch(std::move(work.received), receive)};
    const PhaseClock::Switched returned = recorder_.clock().Switch(issued.ended);
    recorder_.Returned(send, returned.at);
    recorder_.Returned(receive, returned.at);
    return timed;
  }
  void Close() override { communicator_->Close(); }

 private:
  // `peer` is the index in the group; -1 where all ranks take part.
  template <typename Call>
  Pending Time(planner::CollectiveKind kind, const at::Tensor& buffer, const Call& call,
               int32_t peer = -1) {
    const PhaseClock::Switched issued = recorder_.clock().Switch(group_.phase);
    const StepRecorder::Operation operation = Record(kind, buffer, peer, issued.at);
    Pending timed = Watch(call(), operation);
    recorder_.Returned(operation, recorder_.clock().Switch(issued.ended).at);
    return timed;
  }

  StepRecorder::Operation Record(planner::CollectiveKind kind, const at::Tensor& buffer,
                                 int32_t peer, PhaseClock::Mark issued) {
    return recorder_.Issued({.group = group_.name,
                             .operation = kind,
                             .peer = InRun(peer),
                             .bytes = static_cast<int64_t>(buffer.nbytes())},
                            issued);
  }

  Pending Watch(Pending work, StepRecorder::Operation operation) {
    recorder_.Watch(operation, work.WatchDone());
    return Pending(
        std::make_unique<TimedWork>(std::move(work), recorder_, operation, group_.phase));
  }

  int32_t InRun(int32_t peer) const {
    const bool in_group = peer >= 0 && peer < static_cast<int32_t>(group_.ranks.size());
    return in_group ? group_.ranks[static_cast<size_t>(peer)] : -1;
  }

  const std::unique_ptr<Communicator> communicator_;
  const TimedGroup group_;
  StepRecorder& recorder_;
};

}  // namespace

std::unique_ptr<Communicator> TimeCommunicator(std::unique_ptr<Communicator> communicator,
                                               TimedGroup group, StepRecorder& recorder) {
  return std::make_unique<TimedCommunicator>(std::move(communicator), std::move(group), recorder);
}

}  // namespace meshwright::worker
