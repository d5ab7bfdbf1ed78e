// What one training step processes, in which number formats, and which optimizer ends it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "planner/spec/number_formats.h"
#include "planner/spec/optimizer.h"
#include "planner/spec/quantisation.h"

namespace meshwright::planner {

struct TrainingSpec {
  int64_t seq_len = 0;       // tokens per sequence
  int64_t global_batch = 0;  // sequences per optimizer step, over all devices
  Precision precision = Precision::kBf16;
  Optimizer optimizer = kAdamW;
  // Tokens that the fullest rank's experts take, over those of an average rank: 1 where routing is
  // balanced.
  double expert_load = 1.0;

  constexpr NumberFormats formats() const { return NumberFormatsOf(precision); }
  constexpr Quantisation quantisation() const { return QuantisationOf(precision); }

  friend bool operator==(const TrainingSpec&, const TrainingSpec&) = default;
};

// InvalidArgument naming the field, its value and what would be accepted.
absl::Status Validate(const TrainingSpec& training);

}  // namespace meshwright::planner
