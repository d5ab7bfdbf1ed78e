// Phase classifies the time of a step: every moment of a rank belongs to exactly one phase.
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
  kTensorParallel,   // waiting for collectives of the TP group
  kContextParallel,  // waiting for collectives of the CP group
  kPipeline,         // waiting for a message in transit
  kBubble,           // waiting for a neighbour that has not issued its side of the message
  kDataParallel,     // waiting for gradient reductions and gathered weights
  kOptimizer,
  kExpertParallel  // waiting for tokens in transit to and from experts
};
inline constexpr size_t kPhases = 10;

// Returns the key of a phase's seconds: "forward_s", "backward_s", ...
constexpr std::string_view PhaseKey(Phase phase) {
  constexpr std::array<std::string_view, kPhases> kKeys = {
      "other_s",    "forward_s", "backward_s",      "tensor_parallel_s", "context_parallel_s",
      "pipeline_s", "bubble_s",  "data_parallel_s", "optimizer_s",       "expert_parallel_s"};
  return kKeys[static_cast<size_t>(phase)];
}

// Returns the phase to which waiting for a group's operations belongs.
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

// Calls visit(phase) for each phase, in enumeration order.
template <typename Visit>
void ForEachPhase(const Visit& visit) {
  for (size_t i = 0; i < kPhases; ++i) visit(static_cast<Phase>(i));
}

}  // namespace meshwright::trial
