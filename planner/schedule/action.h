// What a pipeline rank computes, one step at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/enum_names.h"

namespace meshwright::planner {

// kBackward is both parts of a backward pass at once; schedules that split it emit
// kBackwardInput and, later, kBackwardWeight.
enum class ActionKind : uint8_t { kForward, kBackward, kBackwardInput, kBackwardWeight };

// By kind: forward, backward, its input-gradient part, its weight-gradient part.
inline constexpr std::string_view kActionLetters = "FBIW";
inline constexpr EnumNames<ActionKind, 4> kActionKindNames = {{
    {ActionKind::kForward, kActionLetters.substr(0, 1)},
    {ActionKind::kBackward, kActionLetters.substr(1, 1)},
    {ActionKind::kBackwardInput, kActionLetters.substr(2, 1)},
    {ActionKind::kBackwardWeight, kActionLetters.substr(3, 1)},
}};

struct Action {
  ActionKind kind = ActionKind::kForward;
  int32_t micro_batch = 0;
  int32_t chunk = 0;

  friend bool operator==(const Action&, const Action&) = default;
};

// One list per pipeline rank.
using ScheduleLists = std::vector<std::vector<Action>>;

// "F3.c0": kind's letter, micro-batch, chunk.
std::string FormatAction(const Action& action);

}  // namespace meshwright::planner
