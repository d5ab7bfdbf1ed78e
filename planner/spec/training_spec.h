// TrainingSpec says what one training step processes, in which number formats, and which optimizer
// ends it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "planner/spec/number_formats.h"
#include "planner/spec/optimizer.h"
#include "planner/spec/quantisation.h"

namespace meshwright::planner {

// Where the routers of Meshwright's own worker send tokens.
enum class Routing : uint8_t {
  kBalanced,  // slot k of the token at position t of its sequence to expert (t top_k + k) % experts
  kLearned    // to the experts of the best scores
};

struct TrainingSpec {
  int64_t seq_len = 0;       // tokens per sequence
  int64_t global_batch = 0;  // sequences per optimizer step, over all devices
  Precision precision = Precision::kBf16;
  // The precision of everything around the products that a recipe narrows: bf16 for users. Tests
  // that compare sums without rounding take a wider one.
  Precision around_products = Precision::kBf16;
  Optimizer optimizer = kAdamW;
  // Tokens that the fullest rank's experts take, over those of an average rank: 1 where routing is
  // balanced.
  double expert_load = 1.0;
  Routing routing = Routing::kBalanced;

  constexpr NumberFormats formats() const {
    return NumberFormatsOf(quantisation().narrows() ? around_products : precision);
  }
  constexpr Quantisation quantisation() const { return QuantisationOf(precision); }

  friend bool operator==(const TrainingSpec&, const TrainingSpec&) = default;
};

// InvalidArgument naming the field, its value and what is accepted.
absl::Status Validate(const TrainingSpec& training);

}  // namespace meshwright::planner
