// RopeScaling changes the frequencies of a rotary embedding, so that a model can read sequences
// longer than those on which it was first trained.
//
// It holds the keys of config.json's rope_scaling, for the kinds that Meshwright plans and runs.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::planner {

enum class RopeScalingKind : uint8_t {
  kNone,
  kLinear,  // every frequency divided by factor
  kLlama3   // Llama 3.1: low frequencies divided, high ones kept, a ramp between them
};

// Returns a rope_type: "default", "linear" or "llama3".
std::string_view RopeScalingName(RopeScalingKind kind);
// Parses a rope_type. Returns InvalidArgument naming `field` for any other name.
absl::StatusOr<RopeScalingKind> ParseRopeScalingKind(std::string_view field, std::string_view name);

struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::kNone;
  double factor = 1.0;
  // Only for kLlama3. A frequency is low if at most low_freq_factor of its wavelengths fit into
  // original_max_positions, and high if at least high_freq_factor do.
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  int64_t original_max_positions = 8192;

  friend bool operator==(const RopeScaling&, const RopeScaling&) = default;
};

// Returns the frequency, in radians per position, that replaces `frequency`.
double ScaledFrequency(const RopeScaling& scaling, double frequency);

// Returns InvalidArgument, with the field, its value and what is accepted, if a field is out of
// range.
absl::Status Validate(const RopeScaling& scaling);

}  // namespace meshwright::planner
