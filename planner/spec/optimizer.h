// Optimizer describes the optimizer of a training run by the values that it keeps and the bytes
// that an update moves, both per parameter.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/spec/number_formats.h"

namespace meshwright::planner {

// Values that an update keeps, and bytes that it moves, per parameter.
struct UpdateRule {
  // Values that persist from step to step, each in NumberFormats::optimizer_states. These states
  // don't include the master copy of narrower weights.
  int32_t states = 0;
  // Bytes of device memory that an update reads and writes under mixed precision. On every device
  // the traffic hides the arithmetic, some twenty operations per parameter. The time of an update
  // is therefore the time of these bytes alone.
  double traffic_bytes = 0.0;

  friend bool operator==(const UpdateRule&, const UpdateRule&) = default;
};

struct Optimizer {
  std::string_view name;  // static storage
  UpdateRule matrices;    // rule for the matrices of blocks' products
  UpdateRule others;      // rule for embeddings, the head, norms and biases
  // Newton-Schulz iterations that turn the momentum of a block's whole matrix into the nearest
  // orthogonal matrix. 0 if the update needs no whole matrix.
  int32_t orthogonal_iterations = 0;
  // Whether the states, except for the master copy, lie in memory that the driver pages to the host
  // if the device is full (planner/memory/rank_memory.h).
  bool paged = false;

  bool orthogonalises() const { return orthogonal_iterations > 0; }

  friend bool operator==(const Optimizer&, const Optimizer&) = default;
};

// AdamW keeps two moments. An update reads the gradient, reads and writes the master weight and
// both moments in fp32, and writes the weight in bf16: 4 + 3 * (4 + 4) + 2.
inline constexpr UpdateRule kAdamWRule = {.states = 2, .traffic_bytes = 30.0};

// AdamW (Loshchilov and Hutter, arXiv 1711.05101).
inline constexpr Optimizer kAdamW = {
    .name = "adamw", .matrices = kAdamWRule, .others = kAdamWRule, .orthogonal_iterations = 0};

// Muon as Liu et al. train with it (arXiv 2502.16982, sections 2.1 and 2.3): one momentum and five
// iterations in bf16 for matrices, AdamW for the rest. An update of a matrix reads the gradient,
// and reads and writes momentum and master weight in fp32. It writes the momentum in bf16, reads
// the iterations' result, and writes the weight: 4 + 2 * (4 + 4) + 2 + 2 + 2.
inline constexpr Optimizer kMuon = {.name = "muon",
                                    .matrices = {.states = 1, .traffic_bytes = 26.0},
                                    .others = kAdamWRule,
                                    .orthogonal_iterations = 5};

// One momentum. An update reads the gradient, reads and writes momentum and master weight in fp32,
// and writes the weight: 4 + 2 * (4 + 4) + 2.
inline constexpr UpdateRule kMomentumRule = {.states = 1, .traffic_bytes = 22.0};

// Gradient descent with momentum, and Lion (Chen et al., arXiv 2302.06675).
inline constexpr Optimizer kSgd = {
    .name = "sgd", .matrices = kMomentumRule, .others = kMomentumRule, .orthogonal_iterations = 0};
inline constexpr Optimizer kLion = {
    .name = "lion", .matrices = kMomentumRule, .others = kMomentumRule, .orthogonal_iterations = 0};

// Adafactor without momentum (Shazeer and Stern, arXiv 1804.04235). The second moment of a matrix
// is a number for each row and each column, too few to count. An update reads the gradient twice,
// the first time for the sums of rows and columns. It reads and writes the master weight, and
// writes the weight: 2 * 4 + (4 + 4) + 2.
inline constexpr UpdateRule kFactoredRule = {.states = 0, .traffic_bytes = 18.0};
inline constexpr Optimizer kAdafactor = {.name = "adafactor",
                                         .matrices = kFactoredRule,
                                         .others = kFactoredRule,
                                         .orthogonal_iterations = 0};

// AdamW of bitsandbytes with moments in CUDA's managed memory (Dettmers et al., arXiv 2305.14314,
// section 3). --states adam8bit says that the moments take 8 bits.
inline constexpr Optimizer kPagedAdamW = {.name = "paged-adamw",
                                          .matrices = kAdamWRule,
                                          .others = kAdamWRule,
                                          .orthogonal_iterations = 0,
                                          .paged = true};

inline constexpr std::array kOptimizers = {kAdamW, kMuon, kSgd, kLion, kAdafactor, kPagedAdamW};

constexpr std::string_view OptimizerName(const Optimizer& optimizer) { return optimizer.name; }
// Parses a name of kOptimizers. Returns InvalidArgument naming `optimizer` for any other text.
absl::StatusOr<Optimizer> ParseOptimizer(std::string_view text);

}  // namespace meshwright::planner
