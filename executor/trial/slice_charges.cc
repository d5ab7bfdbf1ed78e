#include "executor/trial/slice_charges.h"

#include <algorithm>
#include <map>
#include <string>

#include "planner/cost/collective.h"
#include "planner/layout/mesh.h"

namespace meshwright::trial {
namespace {

// The issue of an operation, or the begin of a wait.
struct Moment {
  double at_s = 0.0;
  bool waits = false;
  size_t operation = 0;
};

std::vector<Moment> MomentsOf(const StepRecord& record) {
  std::vector<Moment> moments;
  for (size_t i = 0; i < record.communication.size(); ++i) {
    const CommunicationSpan& span = record.communication[i];
    moments.push_back({.at_s = span.issued_s, .waits = false, .operation = i});
    if (span.wait == TimeSpan()) continue;
    moments.push_back({.at_s = span.wait.begin_s, .waits = true, .operation = i});
  }
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return a.at_s < b.at_s; });
  return moments;
}

// Returns the entry to which time at `at_s` is added.
PhaseSeconds& PlaceOf(const StepRecord& record, double at_s, ReplayedStep& step) {
  const auto behind = std::upper_bound(
      record.actions.begin(), record.actions.end(), at_s,
      [](double time_s, const ActionSpan& action) { return time_s < action.time.begin_s; });
  if (behind == record.actions.begin()) return step.behind;
  const auto index = static_cast<size_t>(behind - record.actions.begin()) - 1;
  return at_s <= record.actions[index].time.end_s ? step.actions[index] : step.behind;
}

// Converts the record's times to times without issuing. Moves forward only.
class ReplayClock {
 public:
  double Seconds(double at_s) const { return std::max(at_s, returned_s_) - issuing_s_; }

  // Excludes the issuing call from the clock. One call may issue two operations.
  void Issue(const CommunicationSpan& span) {
    const double begin_s = std::max(span.issued_s, returned_s_);
    issuing_s_ += std::max(0.0, span.returned_s - begin_s);
    returned_s_ = std::max(returned_s_, span.returned_s);
  }

 private:
  double issuing_s_ = 0.0;
  double returned_s_ = 0.0;  // of the previous call
};

}  // namespace

std::optional<planner::RankGroup> ChargedGroup(const planner::StepShape& step,
                                               std::string_view group) {
  const auto role = planner::GroupRoleOf(group);
  if (role == planner::GroupRole::kTensor) return step.tp_group;
  if (role == planner::GroupRole::kContext) return step.cp_group;
  if (role == planner::GroupRole::kReplicas) return step.dp_group;
  if (role == planner::GroupRole::kShards) return step.zero.shards;
  if (role == planner::GroupRole::kCopies) return step.zero.copies;
  if (role == planner::GroupRole::kExperts) return step.experts.experts;
  if (role == planner::GroupRole::kExpertTensor) return step.experts.tensor;
  if (role == planner::GroupRole::kExpertReplicas) return step.experts.replicas;
  if (role == planner::GroupRole::kModelEnds) return step.ends_group;
  return std::nullopt;
}

double ChargeOf(const planner::StepShape& step, const CommunicationSpan& span) {
  const auto group = ChargedGroup(step, span.group);
  if (!group.has_value()) return 0.0;
  const auto bytes = static_cast<double>(span.bytes);
  switch (span.operation) {
    case planner::CollectiveKind::kAllReduce:
      return planner::AllReduceTime(step.network, *group, bytes);
    case planner::CollectiveKind::kAllGather:
      return planner::AllGatherTime(step.network, *group, bytes);
    case planner::CollectiveKind::kReduceScatter:
      return planner::ReduceScatterTime(step.network, *group, bytes);
    case planner::CollectiveKind::kBroadcast:
      // A broadcast passes once around the ring, like a gather.
      return planner::AllGatherTime(step.network, *group, bytes);
    case planner::CollectiveKind::kSend:
      return planner::SendTime(step.network, *group, bytes);
    case planner::CollectiveKind::kAllToAll:
      return planner::AllToAllTime(step.network, *group, {.bytes = bytes});
    case planner::CollectiveKind::kReceive:
      return 0.0;
  }
  return 0.0;
}

ReplayedStep Replay(const StepRecord& record,
                    const std::function<double(const CommunicationSpan&)>& charge) {
  ReplayedStep step;
  step.actions.resize(record.actions.size());
  std::vector<double> done_s(record.communication.size(), 0.0);
  std::map<std::string, double> group_done_s;
  ReplayClock clock;
  double delay_s = 0.0;  // total waiting so far
  for (const Moment& moment : MomentsOf(record)) {
    const CommunicationSpan& span = record.communication[moment.operation];
    const double now_s = clock.Seconds(moment.at_s) + delay_s;
    if (!moment.waits) {
      clock.Issue(span);
      double& free_s = group_done_s[span.group];
      free_s = std::max(free_s, now_s) + charge(span);
      done_s[moment.operation] = free_s;
      continue;
    }
    const double waited_s = std::max(0.0, done_s[moment.operation] - now_s);
    const auto role = planner::GroupRoleOf(span.group);
    const Phase phase = role.has_value() ? PhaseOf(*role) : Phase::kDataParallel;
    PlaceOf(record, moment.at_s, step)[phase] += waited_s;
    delay_s += waited_s;
  }
  return step;
}

}  // namespace meshwright::trial
