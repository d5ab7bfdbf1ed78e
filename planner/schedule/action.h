// Action is one computation of a pipeline rank: a forward or a backward pass of a micro-batch in a
// chunk, or in the rank's shard of the head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/enum_names.h"

namespace meshwright::planner {

// kBackward is a whole backward pass. Schedules that split it use kBackwardInput and, later,
// kBackwardWeight instead. Schedules that divide the vocabulary (DividesVocabulary()) run the head
// on every rank in two passes: kVocabularyForward computes the logits and the statistics of the
// loss, kVocabularyBackward the gradients.
enum class ActionKind : uint8_t {
  kForward,
  kBackward,
  kBackwardInput,
  kBackwardWeight,
  kVocabularyForward,
  kVocabularyBackward
};

// The letters of the kinds: forward, backward, input-gradient part, weight-gradient part; S and T
// are the forward and the backward of the head, as arXiv 2411.05288 calls them.
inline constexpr std::string_view kActionLetters = "FBIWST";
inline constexpr EnumNames<ActionKind, 6> kActionKindNames = {{
    {ActionKind::kForward, kActionLetters.substr(0, 1)},
    {ActionKind::kBackward, kActionLetters.substr(1, 1)},
    {ActionKind::kBackwardInput, kActionLetters.substr(2, 1)},
    {ActionKind::kBackwardWeight, kActionLetters.substr(3, 1)},
    {ActionKind::kVocabularyForward, kActionLetters.substr(4, 1)},
    {ActionKind::kVocabularyBackward, kActionLetters.substr(5, 1)},
}};

// Returns whether an action of this kind adds to the weights' gradients.
constexpr bool AddsWeightGradients(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kBackwardWeight;
}

// Returns whether an action of this kind is a pass of the rank's shard of the head.
constexpr bool IsOfVocabulary(ActionKind kind) {
  return kind == ActionKind::kVocabularyForward || kind == ActionKind::kVocabularyBackward;
}

// Returns whether an action of this kind takes its input from the stage on one side and passes its
// output to the stage on the other side.
constexpr bool PassesOn(ActionKind kind) {
  return kind != ActionKind::kBackwardWeight && !IsOfVocabulary(kind);
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
