// Action is one computation of a pipeline rank: a forward or a backward pass of a micro-batch in a
// chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/enum_names.h"

namespace meshwright::planner {

// kBackward is a whole backward pass. Schedules that split it use kBackwardInput and, later,
// kBackwardWeight instead.
enum class ActionKind : uint8_t { kForward, kBackward, kBackwardInput, kBackwardWeight };

// The letters of the kinds: forward, backward, input-gradient part, weight-gradient part.
inline constexpr std::string_view kActionLetters = "FBIW";
inline constexpr EnumNames<ActionKind, 4> kActionKindNames = {{
    {ActionKind::kForward, kActionLetters.substr(0, 1)},
    {ActionKind::kBackward, kActionLetters.substr(1, 1)},
    {ActionKind::kBackwardInput, kActionLetters.substr(2, 1)},
    {ActionKind::kBackwardWeight, kActionLetters.substr(3, 1)},
}};

// Returns whether an action of this kind adds to the weights' gradients.
constexpr bool AddsWeightGradients(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kBackwardWeight;
}

struct Action {
  ActionKind kind = ActionKind::kForward;
  int32_t micro_batch = 0;
  int32_t chunk = 0;

  friend bool operator==(const Action&, const Action&) = default;
};

// One list per pipeline rank.
using ScheduleLists = std::vector<std::vector<Action>>;

// Returns the kind's letter, the micro-batch and the chunk, such as "F3.c0".
inline std::string FormatAction(const Action& action) {
  const char letter = kActionLetters[static_cast<size_t>(action.kind)];
  return letter + std::to_string(action.micro_batch) + ".c" + std::to_string(action.chunk);
}

}  // namespace meshwright::planner
