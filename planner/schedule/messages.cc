#include "planner/schedule/messages.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "planner/schedule/placement.h"

namespace meshwright {
namespace {

MessageEnd EndAt(const Layout& layout, int32_t rank, int32_t stage) {
  if (stage < 0 || stage >= StageCount(layout)) return {};
  const int32_t holder = PlaceOfStage(layout, stage).rank;
  const Way way = holder == rank ? Way::kOwn : holder > rank ? Way::kUp : Way::kDown;
  return {.way = way, .stage = stage, .rank = holder};
}

// The stage `steps` after the action's own on the way of a micro-batch.
MessageEnd Neighbour(const Layout& layout, int32_t rank, const Action& action, int32_t steps) {
  if (action.kind == ActionKind::kBackwardWeight) return {};
  const int32_t stage = StageOfChunk(layout, rank, action.chunk);
  return EndAt(layout, rank, action.kind == ActionKind::kForward ? stage + steps : stage - steps);
}

class Planner {
 public:
  Planner(const Layout& layout, int32_t rank, const std::vector<Action>& actions,
          int64_t open_sends)
      : ends_(layout, rank), actions_(actions), open_sends_(open_sends) {
    constexpr size_t kMostPerAction = 5;
    plan_.reserve(kMostPerAction * actions.size());
  }

  std::vector<Instruction> Plan() {
    PostNext();
    for (size_t i = 0; i < actions_.size(); ++i) {
      if (ends_.InputOf(actions_[i]).on_lane()) {
        Add(InstructionKind::kAwaitReceive, i);
        PostNext();
      }
      Add(InstructionKind::kCompute, i);
      const MessageEnd& output = ends_.OutputOf(actions_[i]);
      if (output.on_lane()) Send(i, output.way == Way::kUp);
    }
    for (auto& directions : sends_) {
      for (Sends& sends : directions) Await(sends, 0);
    }
    return std::move(plan_);
  }

 private:
  // The actions that sent, and how many of these sends were waited for.
  struct Sends {
    std::vector<size_t> actions;
    size_t awaited = 0;
  };

  void Add(InstructionKind kind, size_t action) {
    plan_.push_back({.kind = kind, .action = static_cast<int32_t>(action)});
  }

  void PostNext() {
    while (next_ < actions_.size() && !ends_.InputOf(actions_[next_]).on_lane()) ++next_;
    if (next_ < actions_.size()) Add(InstructionKind::kPostReceive, next_++);
  }

  void Send(size_t action, bool up) {
    const bool activations = actions_[action].kind == ActionKind::kForward;
    Sends& sends = sends_[activations ? 1 : 0][up ? 1 : 0];
    Await(sends, static_cast<size_t>(open_sends_ - 1));
    Add(InstructionKind::kSend, action);
    sends.actions.push_back(action);
  }

  // Until at most `most_open` are open.
  void Await(Sends& sends, size_t most_open) {
    while (sends.actions.size() - sends.awaited > most_open) {
      Add(InstructionKind::kAwaitSend, sends.actions[sends.awaited++]);
    }
  }

  const MessageEnds ends_;
  const std::vector<Action>& actions_;
  const int64_t open_sends_;
  size_t next_ = 0;  // the first action whose input has not been asked for
  // By kind and direction: a rank sends to at most one other in each.
  std::array<std::array<Sends, 2>, 2> sends_;
  std::vector<Instruction> plan_;
};

}  // namespace

MessageEnd InputOf(const Layout& layout, int32_t rank, const Action& action) {
  return Neighbour(layout, rank, action, -1);
}

MessageEnd OutputOf(const Layout& layout, int32_t rank, const Action& action) {
  return Neighbour(layout, rank, action, 1);
}

MessageEnds::MessageEnds(const Layout& layout, int32_t rank) {
  const auto ends_of = [&](ActionKind kind, int32_t chunk) {
    const Action action = {.kind = kind, .chunk = chunk};
    return Ends{.input = meshwright::InputOf(layout, rank, action),
                .output = meshwright::OutputOf(layout, rank, action)};
  };
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    forward_.push_back(ends_of(ActionKind::kForward, chunk));
    backward_.push_back(ends_of(ActionKind::kBackward, chunk));
  }
}

std::vector<Lane> LanesOf(const Layout& layout, int32_t rank) {
  std::vector<Lane> lanes;
  const auto add = [&](const Lane& lane) {
    if (std::find(lanes.begin(), lanes.end(), lane) == lanes.end()) lanes.push_back(lane);
  };
  for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward}) {
    for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
      const Action action = {.kind = kind, .chunk = chunk};
      const bool activations = kind == ActionKind::kForward;
      const MessageEnd input = InputOf(layout, rank, action);
      if (input.on_lane()) add({activations, input.way == Way::kDown, input.rank, rank});
      const MessageEnd output = OutputOf(layout, rank, action);
      if (output.on_lane()) add({activations, output.way == Way::kUp, rank, output.rank});
    }
  }
  // Between neighbours, those of every other sender have no rank in common.
  const auto order = [](const Lane& lane) {
    return std::tuple(!lane.activations, !lane.up, lane.from % 2, lane.from);
  };
  std::sort(lanes.begin(), lanes.end(),
            [&](const Lane& a, const Lane& b) { return order(a) < order(b); });
  return lanes;
}

std::vector<Instruction> PlanMessages(const Layout& layout, int32_t rank,
                                      const std::vector<Action>& actions, int64_t open_sends) {
  return Planner(layout, rank, actions, open_sends).Plan();
}

}  // namespace meshwright
