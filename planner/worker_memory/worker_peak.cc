#include "planner/worker_memory/worker_peak.h"

#include <algorithm>
#include <vector>

#include "planner/schedule/closed_forms.h"
#include "planner/schedule/messages.h"
#include "planner/schedule/schedule.h"
#include "planner/worker_memory/sharded_peaks.h"

namespace meshwright::planner {
namespace {

// The number of actions that are followed in a run of like actions, half of them at each end.
// Within a run the held bytes grow or shrink evenly, so the peak is at one of its ends; transient
// states differ only at the very ends.
constexpr int64_t kEnds = 4;

// The actions of a rank's list that can be at its peak. `skipped` like actions precede each.
struct Actions {
  std::vector<Action> list;
  std::vector<int64_t> skipped;
};

void AddRun(ActionKind kind, int32_t chunk, int64_t times, Actions& actions) {
  for (int64_t i = 0; i < std::min(times, kEnds); ++i) {
    actions.list.push_back({.kind = kind, .chunk = chunk});
    actions.skipped.push_back(times > kEnds && i == kEnds / 2 ? times - kEnds : 0);
  }
}

Actions ActionsThatCount(const Layout& layout, const WorkerRank& rank) {
  Actions actions;
  const bool alike = rank.by_micro_batch.empty();
  if (alike &&
      (layout.schedule == ScheduleKind::kGpipe || layout.schedule == ScheduleKind::kBreadthFirst)) {
    for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
      AddRun(ActionKind::kForward, chunk, rank.micro_batches, actions);
    }
    for (int32_t chunk = layout.vpp - 1; chunk >= 0; --chunk) {
      AddRun(ActionKind::kBackward, chunk, rank.micro_batches, actions);
    }
    return actions;
  }
  // Other schedules reach a steady state within two rounds of the pipeline, and all end alike.
  const int64_t enough =
      alike ? std::min<int64_t>(rank.micro_batches, int64_t{4} * layout.pp) : rank.micro_batches;
  auto list = MakeSchedule(layout, rank.pipeline_rank, static_cast<int32_t>(enough));
  if (list.ok()) actions.list = *std::move(list);
  actions.skipped.assign(actions.list.size(), 0);
  return actions;
}

class Walk {
 public:
  Walk(const Layout& layout, const WorkerRank& rank)
      : rank_(rank),
        ends_(layout, rank.pipeline_rank),
        most_open_(OpenSends(layout, rank.micro_batches)),
        actions_(ActionsThatCount(layout, rank)) {
    if (!rank.transient.has_value()) return;
    if (rank.transient->layered) {
      layered_.emplace(*rank.transient, rank.chunks, actions_.list);
    } else {
      sharded_.emplace(*rank.transient, rank.chunks, actions_.list);
    }
  }

  void Run() {
    ForEachInstruction(ends_, actions_.list, most_open_,
                       [&](const Instruction& instruction) { Run(instruction); });
  }

  // Returns the peak of the device, and the most that the host holds at any time.
  WorkerActivations peak() const {
    WorkerActivations peak = peak_;
    peak.host_bytes = host_peak_;
    return peak;
  }

 private:
  // Messages of one kind that this rank holds.
  struct Outbox {
    int64_t up = 0;
    int64_t down = 0;
    int64_t handed_over = 0;

    int64_t held() const { return up + down + handed_over; }
  };

  void Run(const Instruction& instruction) {
    const auto index = static_cast<size_t>(instruction.action);
    const Action& action = actions_.list[index];
    switch (instruction.kind) {
      case InstructionKind::kPostReceive:
        ++posted_;
        break;
      case InstructionKind::kAwaitReceive:
        // The action's own input is counted with the micro-batch.
        --posted_;
        break;
      case InstructionKind::kCompute:
        if (actions_.skipped[index] > 0) Skip(action, actions_.skipped[index]);
        Start(action);
        Finish(action, 1);
        break;
      case InstructionKind::kAwaitSend:
        // Follows from the number of open sends: skipped actions sent as well.
        break;
      case InstructionKind::kSend:
        Send(action, 1);
        break;
    }
  }

  Outbox& OutboxOf(const Action& action) {
    return action.kind == ActionKind::kForward ? activations_ : gradients_;
  }

  void Start(const Action& action) {
    const WorkerStageBytes& bytes = rank_.StageOf(action);
    const bool forward = action.kind == ActionKind::kForward;
    const bool weight = action.kind == ActionKind::kBackwardWeight;
    int64_t messages = posted_ + activations_.held() + gradients_.held();
    // The action's own input is counted with the micro-batch.
    if (ends_.InputOf(action).way == Way::kOwn) --messages;
    WorkerActivations others = kept_;
    others.workspace_bytes += messages * bytes.boundary_bytes();
    if (!forward) Add(others, weight ? bytes.kept_split : bytes.kept, -1);
    if (layered_.has_value()) {
      ReachInParts(action, others);
    } else {
      Reach(others, sharded_.has_value() ? sharded_->Next(bytes)
                                         : bytes.peak[static_cast<size_t>(action.kind)]);
    }
  }

  void ReachInParts(const Action& action, const WorkerActivations& others) {
    const WorkerStageBytes& stage = rank_.StageOf(action);
    ForEachPart(stage, action.kind, [&](int64_t part) {
      WorkerActivations own = PartPeak(stage, action.kind, part);
      own.workspace_bytes += layered_->Next(action, part);
      Reach(others, own);
    });
  }

  void Reach(const WorkerActivations& others, WorkerActivations own) {
    Add(own, others, 1);
    own.workspace_bytes += others.workspace_bytes;
    if (own.total_bytes() > peak_.total_bytes()) peak_ = own;
  }

  void Skip(const Action& action, int64_t times) {
    Finish(action, times);
    Send(action, times);
  }

  void Finish(const Action& action, int64_t times) {
    const WorkerStageBytes& bytes = rank_.StageOf(action);
    switch (action.kind) {
      case ActionKind::kForward:
        Add(kept_, bytes.kept, times);
        // Nothing else adds to the host's bytes, and tensors that leave a chunk's layers do not
        // return before the chunk ends.
        host_peak_ = std::max(host_peak_, kept_.host_bytes);
        break;
      case ActionKind::kBackward:
        Add(kept_, bytes.kept, -times);
        break;
      case ActionKind::kBackwardInput:
        Add(kept_, bytes.kept, -times);
        Add(kept_, bytes.kept_split, times);
        break;
      case ActionKind::kBackwardWeight:
        Add(kept_, bytes.kept_split, -times);
        break;
      case ActionKind::kVocabularyForward:
      case ActionKind::kVocabularyBackward:
        break;  // the worker has no schedule that divides the vocabulary
    }
    Outbox& outbox = OutboxOf(action);
    if (ends_.InputOf(action).way == Way::kOwn) outbox.handed_over -= times;
    if (ends_.OutputOf(action).way == Way::kOwn) {
      outbox.handed_over += times;
    }
  }

  void Send(const Action& action, int64_t times) {
    const Way way = ends_.OutputOf(action).way;
    Outbox& outbox = OutboxOf(action);
    if (way == Way::kUp) outbox.up = std::min(outbox.up + times, most_open_);
    if (way == Way::kDown) outbox.down = std::min(outbox.down + times, most_open_);
  }

  static void Add(WorkerActivations& sum, const WorkerActivations& part, int64_t times) {
    sum.kept_bytes += times * part.kept_bytes;
    sum.loss_bytes += times * part.loss_bytes;
    sum.host_bytes += times * part.host_bytes;
  }

  const WorkerRank& rank_;
  const MessageEnds ends_;
  const int64_t most_open_;
  WorkerActivations kept_;  // of all micro-batches in flight
  Outbox activations_;
  Outbox gradients_;
  int64_t posted_ = 0;  // receives posted ahead of the action that needs them
  const Actions actions_;
  std::optional<ShardedPeaks> sharded_;
  std::optional<TransientStates> layered_;
  WorkerActivations peak_;
  int64_t host_peak_ = 0;
};

}  // namespace

WorkerActivations PeakWorkerActivations(const Layout& layout, const WorkerRank& rank) {
  Walk walk(layout, rank);
  walk.Run();
  WorkerActivations peak = walk.peak();
  const int64_t behind_actions = kGradientNormBytes + rank.update_bytes;
  if (peak.total_bytes() < behind_actions) {
    peak = {.workspace_bytes = behind_actions, .host_bytes = peak.host_bytes};
  }
  peak.host_bytes = std::max(peak.host_bytes, rank.host_update_bytes);
  peak.workspace_bytes += rank.rope_table_bytes + rank.selection_bias_bytes;
  for (const WorkerStageBytes* stage : rank.chunks) {
    if (stage->last) peak.workspace_bytes += kLossAccumulatorBytes;
  }
  return peak;
}

}  // namespace meshwright::planner
