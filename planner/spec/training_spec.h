// TrainingSpec says what one training step processes, in which number formats, and which optimizer
// updates the weights.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "planner/spec/number_formats.h"
#include "planner/spec/optimizer.h"
#include "planner/spec/quantisation.h"
#include "planner/spec/run_options.h"

namespace meshwright::planner {

// The rule by which the routers of Meshwright's own worker send tokens to experts.
enum class Routing : uint8_t {
  kBalanced,  // pick k of the token at position t goes to expert (t * top_k + k) % experts
  kLearned    // tokens go to the experts with the best scores
};

struct TrainingSpec {
  int64_t seq_len = 0;       // tokens per sequence
  int64_t global_batch = 0;  // sequences per optimizer step, over all devices
  Precision precision = Precision::kBf16;
  // The precision of everything except the products that a recipe quantises. It is bf16, except in
  // tests that compare sums without rounding, which use a wider precision.
  Precision around_products = Precision::kBf16;
  Optimizer optimizer = kAdamW;
  // The tokens that go to the experts of the rank with the most such tokens, divided by the mean
  // over ranks; 1 if routing is balanced.
  double expert_load = 1.0;
  Routing routing = Routing::kBalanced;
  int64_t media_tokens = 0;  // tokens per sequence that stand for images; 0 without a tower
  RunOptions options = {};

  constexpr NumberFormats formats() const {
    return NumberFormatsOf(quantisation().narrows() ? around_products : precision);
  }
  constexpr Quantisation quantisation() const { return QuantisationOf(precision); }

  friend bool operator==(const TrainingSpec&, const TrainingSpec&) = default;
};

// Returns InvalidArgument, with the field, its value and what is accepted, if a field is out of
// range.
absl::Status Validate(const TrainingSpec& training);

}  // namespace meshwright::planner
