// Explains an estimate: what fills the fullest device, what the step waits for in addition to
// compute, the smallest change after which a layout that does not fit would, the effect of another
// load of experts, and what the layout moves to the host.
//
// The structs hold codes and numbers; the functions that return text turn them into sentences, the
// same on a terminal, in JSON and from a server.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/cost/time_part.h"
#include "planner/report/imbalance.h"
#include "planner/report/offload_effect.h"
#include "planner/report/shares.h"
#include "planner/search/neighbours.h"
#include "planner/search/search.h"

namespace meshwright::planner {

enum class MemoryPart : uint8_t {
  kWeights,
  kGradients,
  kOptimizer,
  kActivations,
  kLoss,
  kWorkspace,
  kFragmentation,
  kOverhead,
};
inline constexpr std::array kMemoryParts = {MemoryPart::kWeights,       MemoryPart::kGradients,
                                            MemoryPart::kOptimizer,     MemoryPart::kActivations,
                                            MemoryPart::kLoss,          MemoryPart::kWorkspace,
                                            MemoryPart::kFragmentation, MemoryPart::kOverhead};

// By part.
inline constexpr std::array<std::string_view, kMemoryParts.size()> kMemoryPartNames = {
    "weights", "gradients", "optimizer",     "activations",
    "loss",    "workspace", "fragmentation", "overhead"};

std::string_view PartName(MemoryPart part);  // "activations"
std::string_view Subject(TimePart part);     // "the pipeline bubble"
int64_t PartBytes(const MemoryEstimate& memory, MemoryPart part);

// The largest part of the fullest device's memory, and the largest of the step without compute.
struct Binding {
  MemoryPart memory_part = MemoryPart::kWeights;
  int64_t memory_bytes = 0;
  TimePart time_part = TimePart::kBubble;
  double time_s = 0.0;
};

// The memory of one pipeline rank's device.
struct StageMemory {
  MemoryEstimate memory;
  double fraction_of_device = 0.0;

  friend bool operator==(const StageMemory&, const StageMemory&) = default;
};

struct Explanation {
  std::vector<StageMemory> stages;  // by pipeline rank
  NeighbourSearch neighbours;       // of a layout that does not fit; empty for others
  // For models with experts: the effect of another load of the fullest rank's experts.
  std::optional<ImbalanceEffect> other_imbalance;
  std::optional<ExpertShare> experts;           // of models with experts
  std::optional<LatentShare> latent_attention;  // of models with latent attention
  std::optional<OffloadEffect> offload;         // of layouts that move something to the host

  friend bool operator==(const Explanation&, const Explanation&) = default;
};

// Requires a layout that CheckLayout() accepts, and its estimate. Once `cancelled` returns true,
// returns an incomplete explanation.
Explanation Explain(const EstimateContext& context, const RankedLayout& ranked,
                    int64_t allowed_bytes, const Cancelled& cancelled = {});

Binding BindingOf(const Estimate& estimate);

// Returns what fills the fullest device, with numbers.
std::string MemorySentence(const Estimate& estimate);
// Returns what the step spends most on apart from compute, and what would shrink it.
std::string TimeSentence(const RankedLayout& ranked);
// Returns both sentences.
std::string BindingSentence(const RankedLayout& ranked);
// Returns the smallest change that makes the layout fit, or that there is none; empty where it
// fits.
std::string ChangeSentence(const RankedLayout& ranked, const Explanation& explanation);

}  // namespace meshwright::planner
