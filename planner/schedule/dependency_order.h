// Visits the actions of schedule lists in an order that respects their dependencies, without a
// clock. Every rank works through its own list, and an action waits until the actions that it
// depends on are done. The checker and the simulator share this code.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/schedule/placement.h"
#include "planner/schedule/schedule.h"

namespace meshwright::planner {

// The set of actions that are done, by stage and micro-batch.
class DoneActions {
 public:
  DoneActions(const Layout& layout, int32_t micro_batches)
      : layout_(layout),
        stages_(StageCount(layout)),
        micro_batches_(micro_batches),
        done_(static_cast<size_t>(stages_) * static_cast<size_t>(micro_batches)) {
    if (!DividesVocabulary(layout.schedule)) return;
    vocabulary_forwards_.resize(static_cast<size_t>(micro_batches));
    vocabulary_backwards_.resize(static_cast<size_t>(micro_batches));
  }

  // Returns whether every action that an action of `kind` on `stage` depends on is done.
  bool Ready(ActionKind kind, int32_t stage, int32_t micro_batch) const {
    switch (kind) {
      case ActionKind::kForward:
        return stage == 0 || Has(stage - 1, micro_batch, kForwardDone);
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
        return Has(stage, micro_batch, kForwardDone) &&
               (stage == stages_ - 1 ? HasLoss(micro_batch)
                                     : Has(stage + 1, micro_batch, kInputDone));
      case ActionKind::kBackwardWeight:
        return Has(stage, micro_batch, kInputDone);
      case ActionKind::kVocabularyForward:
        return Has(stages_ - 1, micro_batch, kForwardDone);
      case ActionKind::kVocabularyBackward:
        return OnAllRanks(vocabulary_forwards_, micro_batch);
    }
    return false;
  }

  void Finish(ActionKind kind, int32_t stage, int32_t micro_batch) {
    switch (kind) {
      case ActionKind::kBackwardWeight:
        return;  // no action waits for a weight gradient
      case ActionKind::kVocabularyForward:
        ++vocabulary_forwards_[static_cast<size_t>(micro_batch)];
        return;
      case ActionKind::kVocabularyBackward:
        ++vocabulary_backwards_[static_cast<size_t>(micro_batch)];
        return;
      default:
        done_[Index(stage, micro_batch)] |=
            kind == ActionKind::kForward ? kForwardDone : kInputDone;
    }
  }

 private:
  static constexpr uint8_t kForwardDone = 1;
  static constexpr uint8_t kInputDone = 2;

  size_t Index(int32_t stage, int32_t micro_batch) const {
    return static_cast<size_t>(stage) * static_cast<size_t>(micro_batches_) +
           static_cast<size_t>(micro_batch);
  }
  bool Has(int32_t stage, int32_t micro_batch, uint8_t what) const {
    return (done_[Index(stage, micro_batch)] & what) != 0;
  }
  bool OnAllRanks(const std::vector<int32_t>& passes, int32_t micro_batch) const {
    return passes[static_cast<size_t>(micro_batch)] == layout_.pp;
  }
  // Returns whether the gradient of the last stage's output is available.
  bool HasLoss(int32_t micro_batch) const {
    if (vocabulary_forwards_.empty()) return true;
    return OnAllRanks(LossAfter(layout_.schedule) == ActionKind::kVocabularyForward
                          ? vocabulary_forwards_
                          : vocabulary_backwards_,
                      micro_batch);
  }

  const Layout& layout_;
  int32_t stages_;
  int32_t micro_batches_;
  std::vector<uint8_t> done_;
  std::vector<int32_t> vocabulary_forwards_;   // ranks that are done, by micro-batch; empty if the
  std::vector<int32_t> vocabulary_backwards_;  // schedule doesn't divide the vocabulary
};

// Calls visit(rank, stage, action) for every action that can run. An action is visited after all
// actions that it depends on, and the actions of a rank are visited in the order of its list.
// Returns the number of visited actions of each rank. If lists deadlock, a stuck rank has fewer
// visited actions than its list has actions. Takes time linear in the number of actions.
// REQUIRES: one list per rank, with chunks and micro-batches in range.
template <typename Visit>
std::vector<size_t> VisitInDependencyOrder(const Layout& layout, int32_t micro_batches,
                                           const ScheduleLists& lists, const Visit& visit) {
  const int32_t stages = StageCount(layout);
  DoneActions done(layout, micro_batches);
  std::vector<size_t> position(lists.size(), 0);
  std::vector<uint8_t> queued(lists.size(), 1);
  std::vector<int32_t> queue;  // ranks that may be able to go on
  for (int32_t rank = layout.pp - 1; rank >= 0; --rank) queue.push_back(rank);
  while (!queue.empty()) {
    const int32_t rank = queue.back();
    queue.pop_back();
    queued[rank] = 0;
    const std::vector<Action>& list = lists[rank];
    for (size_t& next = position[rank]; next < list.size(); ++next) {
      const Action& action = list[next];
      const int32_t stage = StageOfChunk(layout, rank, action.chunk);
      if (!done.Ready(action.kind, stage, action.micro_batch)) break;
      visit(rank, stage, action);
      done.Finish(action.kind, stage, action.micro_batch);
      const bool on_all = DividesVocabulary(layout.schedule) &&
                          (IsOfVocabulary(action.kind) ||
                           (action.kind == ActionKind::kForward && stage == stages - 1));
      if (on_all) {
        for (int32_t other = 0; other < layout.pp; ++other) {
          if (other == rank || queued[other]) continue;
          queued[other] = 1;
          queue.push_back(other);
        }
      }
      if (!PassesOn(action.kind)) continue;
      const int32_t fed = action.kind == ActionKind::kForward ? stage + 1 : stage - 1;
      if (fed < 0 || fed == stages) continue;
      const int32_t holder = PlaceOfStage(layout, fed).rank;
      if (holder == rank || queued[holder]) continue;
      queued[holder] = 1;
      queue.push_back(holder);
    }
  }
  return position;
}

}  // namespace meshwright::planner
