#include "planner/schedule/messages.h"

#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

MessageEnd EndAt(const Layout& layout, int32_t rank, int32_t stage) {
  if (stage < 0 || stage >= StageCount(layout)) return {};
  const int32_t holder = PlaceOfStage(layout, stage).rank;
  const Way way = holder == rank ? Way::kOwn : holder > rank ? Way::kUp : Way::kDown;
  return {.way = way, .stage = stage, .rank = holder};
}

// Returns the end `steps` stages after the action's own on the path of a micro-batch.
MessageEnd Neighbour(const Layout& layout, int32_t rank, const Action& action, int32_t steps) {
  if (!PassesOn(action.kind)) return {};
  const int32_t stage = StageOfChunk(layout, rank, action.chunk);
  return EndAt(layout, rank, action.kind == ActionKind::kForward ? stage + steps : stage - steps);
}

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
    return Ends{.input = meshwright::planner::InputOf(layout, rank, action),
                .output = meshwright::planner::OutputOf(layout, rank, action)};
  };
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    forward_.push_back(ends_of(ActionKind::kForward, chunk));
    backward_.push_back(ends_of(ActionKind::kBackward, chunk));
  }
}

std::vector<Instruction> PlanMessages(const Layout& layout, int32_t rank,
                                      const std::vector<Action>& actions, int64_t open_sends) {
  std::vector<Instruction> plan;
  ForEachInstruction(MessageEnds(layout, rank), actions, open_sends,
                     [&](const Instruction& instruction) { plan.push_back(instruction); });
  return plan;
}

}  // namespace meshwright::planner
