// Plans how a pipeline rank carries out its schedule list: the list's actions, and the sends and
// receives around them. The plan is a pure function of the list. The worker executes the plan, the
// memory estimate adds up the messages that a rank holds at once under the plan, and
// planner/schedule/synchronous_sends.h times the plan.
//
// A message moves on a lane, which carries either activations or gradients from one rank to
// another. Lanes don't wait for each other. On one lane, messages are received in the order in
// which they are sent. A message can be transferred once both ranks have issued their side of it
// and the previous message of the lane is done.
//
// Before an action computes, the rank posts the receive of the next message that its list needs, so
// that the sender need not wait for this rank. Only one receive is posted ahead. This limit can't
// cause a deadlock: a rank's sends never wait for its receives, which are on other lanes, and the
// receives that are not posted yet belong to later actions.
//
// The result of an action is sent right after the action, once fewer than `open_sends` messages of
// its lane are open. A message is open from its send until the rank has waited for it. A rank waits
// for its sends only to make room for another message on the same lane, and at the end of its list.
// The time for which a rank holds a message therefore depends only on its own actions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "planner/schedule/schedule.h"

namespace meshwright::planner {

// Where an action's input comes from, or where its output goes, relative to the rank.
enum class Way : uint8_t {
  kNone,  // no stage: at an end of the model, or for a weight gradient
  kOwn,   // the same rank, in its other chunk
  kUp,    // a higher rank
  kDown   // a lower rank
};

// The other end of an action's input or output.
struct MessageEnd {
  Way way = Way::kNone;
  int32_t stage = 0;  // the stage at the other end
  int32_t rank = 0;   // the rank that holds this stage

  // Returns whether the other end is on another rank, so that a message is sent.
  bool on_lane() const { return way == Way::kUp || way == Way::kDown; }
};

MessageEnd InputOf(const Layout& layout, int32_t rank, const Action& action);
MessageEnd OutputOf(const Layout& layout, int32_t rank, const Action& action);

// Holds InputOf() and OutputOf() for all actions of one rank, computed once.
class MessageEnds {
 public:
  MessageEnds(const Layout& layout, int32_t rank);

  const MessageEnd& InputOf(const Action& action) const { return OfKind(action).input; }
  const MessageEnd& OutputOf(const Action& action) const { return OfKind(action).output; }

 private:
  struct Ends {
    MessageEnd input;
    MessageEnd output;
  };

  const Ends& OfKind(const Action& action) const {
    if (!PassesOn(action.kind)) return none_;
    return (action.kind == ActionKind::kForward ? forward_
                                                : backward_)[static_cast<size_t>(action.chunk)];
  }

  const Ends none_;
  absl::InlinedVector<Ends, 4> forward_;  // by chunk
  absl::InlinedVector<Ends, 4> backward_;
};

// A one-way channel between two pipeline ranks.
struct Lane {
  bool activations = false;  // true for activations, false for gradients
  bool up = false;           // true if `to` is the higher rank
  int32_t from = 0;
  int32_t to = 0;

  friend bool operator==(const Lane&, const Lane&) = default;
};

// Calls visit(lane) for the lanes on which `rank` sends or receives. For activations up,
// activations down, gradients up and gradients down, the rank sends on at most one lane and
// receives on at most one. To set up a lane, both of its ranks may wait for each other: the order
// of the lanes prevents a deadlock and lets lanes without a common rank be set up simultaneously.
// Does not allocate.
template <typename Visit>
void ForEachLane(const Layout& layout, int32_t rank, const Visit& visit) {
  if (layout.pp == 1) return;
  const bool is_v = IsV(layout.schedule);
  const int32_t last = layout.pp - 1;
  for (const bool activations : {true, false}) {
    for (const bool up : {true, false}) {
      // Activations go up the ranks and their gradients down. In a V, the second half of the stages
      // goes back through the same ranks. In other schedules, a lane between the last rank and the
      // first closes a ring for the next chunk.
      if (is_v || activations == up) {
        // The lanes between neighbours whose sender is even share no rank and come first.
        const Lane below = {activations, up, up ? rank - 1 : rank, up ? rank : rank - 1};
        const Lane above = {activations, up, up ? rank : rank + 1, up ? rank + 1 : rank};
        const bool below_first = below.from % 2 == 0;
        if (below_first && rank > 0) visit(below);
        if (rank < last) visit(above);
        if (!below_first && rank > 0) visit(below);
      } else if (layout.vpp > 1 && (rank == 0 || rank == last)) {
        visit(Lane{activations, up, up ? 0 : last, up ? last : 0});
      }
    }
  }
}

enum class InstructionKind : uint8_t {
  kPostReceive,   // begins to receive the action's input
  kAwaitReceive,  // waits until the input is there
  kCompute,       // runs the action
  kAwaitSend,     // waits until the action's output is received
  kSend           // begins to send the action's output
};

struct Instruction {
  InstructionKind kind = InstructionKind::kCompute;
  int32_t action = 0;  // the action's index in the list

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

// Calls visit(instruction) for the instructions of a rank's plan, in order. Takes time linear in
// the number of actions. Does not allocate.
// REQUIRES: open_sends >= 1.
template <typename Visit>
void ForEachInstruction(const MessageEnds& ends, const std::vector<Action>& actions,
                        int64_t open_sends, const Visit& visit) {
  const auto count = static_cast<int32_t>(actions.size());
  const auto on = [&](InstructionKind kind, int32_t action) {
    visit(Instruction{.kind = kind, .action = action});
  };
  int32_t next = 0;  // the first action whose receive is not posted yet
  const auto post_next = [&] {
    while (next < count && !ends.InputOf(actions[next]).on_lane()) ++next;
    if (next < count) on(InstructionKind::kPostReceive, next++);
  };
  // A rank sends to at most one other rank for each kind and direction.
  struct Sends {
    bool forward = false;
    Way way = Way::kNone;
    int64_t open = 0;
    int32_t oldest = 0;  // no send before this action is open
  };
  std::array<Sends, 4> lanes = {
      {{false, Way::kUp}, {false, Way::kDown}, {true, Way::kUp}, {true, Way::kDown}}};
  const auto await = [&](Sends& sends, int64_t most_open) {
    const auto is_of_lane = [&](const Action& action) {
      return (action.kind == ActionKind::kForward) == sends.forward &&
             ends.OutputOf(action).way == sends.way;
    };
    for (; sends.open > most_open; --sends.open) {
      while (!is_of_lane(actions[sends.oldest])) ++sends.oldest;
      on(InstructionKind::kAwaitSend, sends.oldest++);
    }
  };
  post_next();
  for (int32_t i = 0; i < count; ++i) {
    const Action& action = actions[i];
    if (ends.InputOf(action).on_lane()) {
      on(InstructionKind::kAwaitReceive, i);
      post_next();
    }
    on(InstructionKind::kCompute, i);
    const Way way = ends.OutputOf(action).way;
    if (way != Way::kUp && way != Way::kDown) continue;
    Sends& sends =
        lanes[(action.kind == ActionKind::kForward ? 2U : 0U) + (way == Way::kDown ? 1U : 0U)];
    await(sends, open_sends - 1);
    on(InstructionKind::kSend, i);
    ++sends.open;
  }
  for (Sends& sends : lanes) await(sends, 0);
}

// Returns ForEachInstruction()'s instructions as a list.
std::vector<Instruction> PlanMessages(const Layout& layout, int32_t rank,
                                      const std::vector<Action>& actions, int64_t open_sends);

}  // namespace meshwright::planner
