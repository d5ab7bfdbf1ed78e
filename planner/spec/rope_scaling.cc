#include "planner/spec/rope_scaling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

constexpr std::array<std::string_view, 3> kRopeScalingNames = {"default", "linear", "llama3"};
constexpr double kMaxFactor = 1e6;
constexpr int64_t kMaxRopePositions = int64_t{1} << 40;

// As in transformers' _compute_llama3_parameters: the share of the old frequency that remains rises
// from 0 to 1 with the number of wavelengths that fit into the original positions.
double Llama3Frequency(const RopeScaling& scaling, double frequency) {
  const double wavelengths =
      static_cast<double>(scaling.original_max_positions) * frequency / (2.0 * std::numbers::pi);
  if (scaling.high_freq_factor == scaling.low_freq_factor) {
    return wavelengths >= scaling.low_freq_factor ? frequency : frequency / scaling.factor;
  }
  const double kept = std::clamp((wavelengths - scaling.low_freq_factor) /
                                     (scaling.high_freq_factor - scaling.low_freq_factor),
                                 0.0, 1.0);
  return kept * frequency + (1.0 - kept) * frequency / scaling.factor;
}

absl::Status CheckFactor(std::string_view field, double value) {
  if (value >= 1.0 && value <= kMaxFactor) return absl::OkStatus();
  return FieldError(field, std::to_string(value), "must be from 1 to 1,000,000");
}

}  // namespace

std::string_view RopeScalingName(RopeScalingKind kind) {
  return kRopeScalingNames[static_cast<size_t>(kind)];
}

absl::StatusOr<RopeScalingKind> ParseRopeScalingKind(std::string_view field,
                                                     std::string_view name) {
  const auto* const at = std::find(kRopeScalingNames.begin(), kRopeScalingNames.end(), name);
  if (at != kRopeScalingNames.end())
    return static_cast<RopeScalingKind>(at - kRopeScalingNames.begin());
  return FieldError(field, name, "must be default, linear or llama3");
}

double ScaledFrequency(const RopeScaling& scaling, double frequency) {
  switch (scaling.kind) {
    case RopeScalingKind::kNone:
      return frequency;
    case RopeScalingKind::kLinear:
      return frequency / scaling.factor;
    case RopeScalingKind::kLlama3:
      return Llama3Frequency(scaling, frequency);
  }
  return frequency;
}

absl::Status Validate(const RopeScaling& scaling) {
  if (scaling.kind == RopeScalingKind::kNone) return absl::OkStatus();
  RETURN_IF_ERROR(CheckFactor("rope_scaling.factor", scaling.factor));
  if (scaling.kind != RopeScalingKind::kLlama3) return absl::OkStatus();
  RETURN_IF_ERROR(CheckPositive("rope_scaling.low_freq_factor", scaling.low_freq_factor));
  if (!(scaling.high_freq_factor >= scaling.low_freq_factor &&
        scaling.high_freq_factor <= kMaxFactor)) {
    return FieldError(
        "rope_scaling.high_freq_factor", std::to_string(scaling.high_freq_factor),
        "must be at least low_freq_factor = " + std::to_string(scaling.low_freq_factor));
  }
  return CheckRange("rope_scaling.original_max_position_embeddings", scaling.original_max_positions,
                    1, kMaxRopePositions);
}

}  // namespace meshwright::planner
