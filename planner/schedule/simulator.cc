#include "planner/schedule/simulator.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "planner/schedule/dependency_order.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

absl::Status CheckTimes(const char* name, const std::vector<double>& times) {
  for (const double time : times) {
    if (!std::isfinite(time) || time < 0.0) {
      return absl::InvalidArgumentError(absl::StrCat(name, " has a time of ", time));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const char* name, size_t count, size_t expected) {
  if (count == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " has ", count, " entries instead of ", expected));
}

absl::Status Check(const Layout& layout, const ScheduleLists& lists, const PipelineTimes& times) {
  const auto stages = static_cast<size_t>(StageCount(layout));
  RETURN_IF_ERROR(CheckCount("lists", lists.size(), static_cast<size_t>(layout.pp)));
  RETURN_IF_ERROR(CheckCount("stages", times.stages.size(), stages));
  if (times.hop_s.size() > 1) {
    RETURN_IF_ERROR(CheckCount("hop_s", times.hop_s.size(), stages - 1));
  }
  if (!times.reduction_s.empty()) {
    RETURN_IF_ERROR(CheckCount("reduction_s", times.reduction_s.size(), stages));
  }
  for (const StageDurations& stage : times.stages) {
    RETURN_IF_ERROR(
        CheckTimes("stages", {stage.forward_s, stage.input_gradient_s, stage.weight_gradient_s,
                              stage.vocabulary_forward_s, stage.vocabulary_backward_s}));
  }
  RETURN_IF_ERROR(CheckTimes("hop_s", times.hop_s));
  RETURN_IF_ERROR(CheckTimes("reduction_s", times.reduction_s));
  return CheckTimes("optimizer_s", {times.optimizer_s});
}

class Simulation {
 public:
  Simulation(const Layout& layout, int32_t micro_batches, const PipelineTimes& times, Record record)
      : layout_(layout),
        micro_batches_(micro_batches),
        times_(times),
        record_(record),
        started_(static_cast<size_t>(layout.pp)),
        free_s_(static_cast<size_t>(layout.pp)),
        weights_left_(times.stages.size(), micro_batches) {
    const size_t passes = times.stages.size() * static_cast<size_t>(micro_batches);
    forward_sent_s_.resize(passes);
    gradient_sent_s_.resize(passes);
    if (DividesVocabulary(layout.schedule)) {
      vocabulary_forward_s_.resize(static_cast<size_t>(micro_batches));
      vocabulary_backward_s_.resize(static_cast<size_t>(micro_batches));
    }
    timeline_.ranks.resize(static_cast<size_t>(layout.pp));
    hop_s_.resize(times.stages.size());  // from stage i to stage i + 1; the last stays unused
    for (int32_t stage = 0; stage + 1 < StageCount(layout); ++stage) {
      if (times.hop_s.empty() || PlaceOfStage(layout, stage).rank == RankOf(stage + 1)) continue;
      hop_s_[stage] = times.hop_s.size() == 1 ? times.hop_s[0] : times.hop_s[stage];
    }
  }

  // Requires that everything that `action` depends on has run.
  void Run(int32_t rank, int32_t stage, const Action& action) {
    RankTimeline& totals = timeline_.ranks[rank];
    double& free_s = free_s_[rank];
    double start_s = std::max(free_s, HeadReady(stage, action));
    if (PassesOn(action.kind)) {
      const int32_t from = action.kind == ActionKind::kForward ? stage - 1 : stage + 1;
      if (from >= 0 && from < StageCount(layout_)) start_s = Receive(rank, from, action);
    }
    const double end_s = start_s + times_.stages[stage].Of(action.kind);
    if (!started_[rank]) totals.first_start_s = start_s;
    started_[rank] = 1;
    totals.busy_s += end_s - start_s;
    free_s = end_s;
    if (record_ == Record::kEvents) timeline_.actions.push_back({rank, action, start_s, end_s});
    if (PassesOn(action.kind)) Send(rank, stage, action, end_s);
    if (IsOfVocabulary(action.kind)) {
      double& last_s = PassOfHead(action.kind, action.micro_batch);
      last_s = std::max(last_s, end_s);
    }
    const bool gradient_added =
        action.kind == ActionKind::kBackward || action.kind == ActionKind::kBackwardWeight;
    if (gradient_added && --weights_left_[stage] == 0) Reduce(rank, stage, action.chunk, end_s);
    totals.compute_end_s = free_s;
  }

  // Requires that all actions have run.
  Timeline Finish(const ScheduleLists& lists) {
    double all_ready_s = 0.0;
    for (RankTimeline& rank : timeline_.ranks) {
      rank.end_s = std::max(rank.compute_end_s, rank.reduction_end_s);
      all_ready_s = std::max(all_ready_s, rank.end_s);
    }
    for (size_t i = 0; i < lists.size(); ++i) {
      RankTimeline& rank = timeline_.ranks[i];
      if (times_.optimizer_barrier) rank.end_s = all_ready_s;
      rank.end_s += times_.optimizer_s;
      rank.peak_in_flight = PeakInFlight(lists[i]);
      timeline_.makespan_s = std::max(timeline_.makespan_s, rank.end_s);
    }
    return std::move(timeline_);
  }

 private:
  int32_t RankOf(int32_t stage) const { return PlaceOfStage(layout_, stage).rank; }
  size_t Index(int32_t stage, int32_t micro_batch) const {
    return static_cast<size_t>(stage) * static_cast<size_t>(micro_batches_) +
           static_cast<size_t>(micro_batch);
  }

  // When the last rank ends a micro-batch's pass of the head.
  double& PassOfHead(ActionKind kind, int32_t micro_batch) {
    return (kind == ActionKind::kVocabularyForward
                ? vocabulary_forward_s_
                : vocabulary_backward_s_)[static_cast<size_t>(micro_batch)];
  }

  // Returns the time from which an action that depends on all ranks' passes of the head, or is one
  // of them, can run; 0 for any other. What the ranks exchange then takes no time: it is hidden
  // behind passes of other micro-batches.
  double HeadReady(int32_t stage, const Action& action) {
    if (!DividesVocabulary(layout_.schedule)) return 0.0;
    switch (action.kind) {
      case ActionKind::kVocabularyForward:
        return forward_sent_s_[Index(StageCount(layout_) - 1, action.micro_batch)];
      case ActionKind::kVocabularyBackward:
        return PassOfHead(ActionKind::kVocabularyForward, action.micro_batch);
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
        if (stage != StageCount(layout_) - 1) return 0.0;
        return PassOfHead(LossAfter(layout_.schedule), action.micro_batch);
      default:
        return 0.0;
    }
  }

  // Returns the time at which the rank has received what stage `from` sent for the action.
  double Receive(int32_t rank, int32_t from, const Action& action) {
    const bool forward = action.kind == ActionKind::kForward;
    const double sent_s =
        (forward ? forward_sent_s_ : gradient_sent_s_)[Index(from, action.micro_batch)];
    const double hop_s = hop_s_[forward ? from : from - 1];
    if (times_.hop_mode == HopMode::kOverlapped) return std::max(free_s_[rank], sent_s + hop_s);
    timeline_.ranks[rank].transfer_s += hop_s;
    return std::max(free_s_[rank], sent_s) + hop_s;
  }

  void Send(int32_t rank, int32_t stage, const Action& action, double end_s) {
    const bool forward = action.kind == ActionKind::kForward;
    (forward ? forward_sent_s_ : gradient_sent_s_)[Index(stage, action.micro_batch)] = end_s;
    if (times_.hop_mode == HopMode::kOverlapped || (!forward && stage == 0)) return;
    const double hop_s = hop_s_[forward ? stage : stage - 1];
    timeline_.ranks[rank].transfer_s += hop_s;
    free_s_[rank] += hop_s;
  }

  void Reduce(int32_t rank, int32_t stage, int32_t chunk, double ready_s) {
    if (times_.reduction_s.empty()) return;
    RankTimeline& totals = timeline_.ranks[rank];
    const double start_s = std::max(ready_s, totals.reduction_end_s);
    totals.reduction_end_s = start_s + times_.reduction_s[stage];
    if (record_ == Record::kEvents) {
      timeline_.reductions.push_back({rank, chunk, start_s, totals.reduction_end_s});
    }
  }

  const Layout& layout_;
  const int32_t micro_batches_;
  const PipelineTimes& times_;
  const Record record_;
  std::vector<double> hop_s_;
  std::vector<uint8_t> started_;               // per rank
  std::vector<double> free_s_;                 // per rank
  std::vector<int32_t> weights_left_;          // per stage
  std::vector<double> forward_sent_s_;         // per stage and micro-batch
  std::vector<double> gradient_sent_s_;        // likewise
  std::vector<double> vocabulary_forward_s_;   // per micro-batch; empty if the schedule doesn't
  std::vector<double> vocabulary_backward_s_;  // divide the vocabulary
  Timeline timeline_;
};

}  // namespace

double Timeline::BubbleShare(int32_t rank) const {
  return makespan_s > 0.0 ? 1.0 - ranks[rank].busy_s / makespan_s : 0.0;
}

double Timeline::BubbleShare() const {
  double sum = 0.0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) sum += BubbleShare(static_cast<int32_t>(rank));
  return ranks.empty() ? 0.0 : sum / static_cast<double>(ranks.size());
}

double Timeline::RepeatedStepTime() const {
  double longest_s = 0.0;
  for (const RankTimeline& rank : ranks) {
    longest_s = std::max(longest_s, rank.end_s - rank.first_start_s);
  }
  return longest_s;
}

absl::StatusOr<Timeline> Simulate(const Layout& layout, int32_t micro_batches,
                                  const ScheduleLists& lists, const PipelineTimes& times,
                                  Record record) {
  RETURN_IF_ERROR(Check(layout, lists, times));
  Simulation simulation(layout, micro_batches, times, record);
  const std::vector<size_t> position =
      VisitInDependencyOrder(layout, micro_batches, lists,
                             [&simulation](int32_t rank, int32_t stage, const Action& action) {
                               simulation.Run(rank, stage, action);
                             });
  for (size_t rank = 0; rank < lists.size(); ++rank) {
    if (position[rank] == lists[rank].size()) continue;
    return absl::InvalidArgumentError(absl::StrCat("the lists deadlock: pipeline rank ", rank,
                                                   " stops at ",
                                                   FormatAction(lists[rank][position[rank]])));
  }
  return simulation.Finish(lists);
}

absl::StatusOr<Timeline> SimulateLayout(const Layout& layout, int32_t micro_batches,
                                        const PipelineTimes& times, Record record) {
  ASSIGN_OR_RETURN(const ScheduleLists lists, MakeSchedules(layout, micro_batches));
  return Simulate(layout, micro_batches, lists, times, record);
}

}  // namespace meshwright::planner
