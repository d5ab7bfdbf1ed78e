// What the time of a step goes to: every moment of a rank belongs to exactly one phase.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "planner/layout/mesh.h"

namespace meshwright::trial {

enum class Phase : uint8_t {
  kOther,
  kForward,
  kBackward,
  kTensorParallel,   // waiting for the TP group's collectives
  kContextParallel,  // waiting for the CP group's
  kPipeline,         // waiting for a message that is on its way
  kBubble,           // waiting for a neighbour that has not come to the message yet
  kDataParallel,     // waiting for gradient reductions and gathered weights
  kOptimizer,
  kExpertParallel  // waiting for tokens on the way to experts and back
};
inline constexpr size_t kPhases = 10;

// "forward_s", "backward_s", ...: what a phase's seconds are called where they are told by name.
constexpr std::string_view PhaseKey(Phase phase) {
  constexpr std::array<std::string_view, kPhases> kKeys = {
      "other_s",    "forward_s", "backward_s",      "tensor_parallel_s", "context_parallel_s",
      "pipeline_s", "bubble_s",  "data_parallel_s", "optimizer_s",       "expert_parallel_s"};
  return kKeys[static_cast<size_t>(phase)];
}

// "forward", "backward", ...
constexpr std::string_view PhaseName(Phase phase) {
  const std::string_view key = PhaseKey(phase);
  return key.substr(0, key.size() - 2);
}

// Where waiting for a group's operations belongs.
constexpr Phase PhaseOf(planner::GroupRole role) {
  switch (role) {
    case planner::GroupRole::kTensor:
      return Phase::kTensorParallel;
    case planner::GroupRole::kContext:
      return Phase::kContextParallel;
    case planner::GroupRole::kPipeline:
      return Phase::kPipeline;
    case planner::GroupRole::kReplicas:
    case planner::GroupRole::kData:
    case planner::GroupRole::kShards:
    case planner::GroupRole::kCopies:
    case planner::GroupRole::kModelEnds:
    case planner::GroupRole::kExpertReplicas:
      return Phase::kDataParallel;
    case planner::GroupRole::kExperts:
    case planner::GroupRole::kExpertTensor:
      return Phase::kExpertParallel;
    case planner::GroupRole::kWorld:
      break;
  }
  return Phase::kOther;
}

// Seconds by phase.
class PhaseSeconds {
 public:
  double& operator[](Phase phase) { return seconds_[static_cast<size_t>(phase)]; }
  double operator[](Phase phase) const { return seconds_[static_cast<size_t>(phase)]; }

  double total_s() const {
    double total_s = 0.0;
    for (const double seconds : seconds_) total_s += seconds;
    return total_s;
  }

  friend bool operator==(const PhaseSeconds&, const PhaseSeconds&) = default;

 private:
  std::array<double, kPhases> seconds_{};
};

// Calls visit(phase) for each phase, in their order.
template <typename Visit>
void ForEachPhase(const Visit& visit) {
  for (size_t i = 0; i < kPhases; ++i) visit(static_cast<Phase>(i));
}

}  // namespace meshwright::trial
