// Explains an estimate: what fills the fullest device, what takes time in a step besides compute,
// what would change if the router spread tokens over experts differently, and what the layout moves
// to the host. If the layout does not fit, the explanation also has the smallest change that makes
// it fit.
//
// The structs hold codes and numbers. The functions that return text turn them into sentences,
// which are the same on a terminal, in JSON and from a server.
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
  // What the user's own runs needed beyond the other parts; may be below 0.
  kCorrection,
};
inline constexpr std::array kMemoryParts = {
    MemoryPart::kWeights,       MemoryPart::kGradients, MemoryPart::kOptimizer,
    MemoryPart::kActivations,   MemoryPart::kLoss,      MemoryPart::kWorkspace,
    MemoryPart::kFragmentation, MemoryPart::kOverhead,  MemoryPart::kCorrection};

// Indexed by MemoryPart.
inline constexpr std::array<std::string_view, kMemoryParts.size()> kMemoryPartNames = {
    "weights",   "gradients",     "optimizer", "activations", "loss",
    "workspace", "fragmentation", "overhead",  "correction"};

std::string_view PartName(MemoryPart part);  // such as "activations"
// Returns the content of a part if its name does not tell it, such as "logits and …" for kLoss;
// otherwise "".
std::string_view PartMeaning(MemoryPart part);
std::string_view Subject(TimePart part);  // such as "the pipeline bubble"
int64_t PartBytes(const MemoryEstimate& memory, MemoryPart part);
// Returns the parts of an estimate that are shown. kCorrection is among them only if the user's own
// runs corrected the estimate.
std::vector<MemoryPart> ShownParts(const Estimate& estimate);

// The largest part of the fullest device's memory, and the largest part of the step's time besides
// compute.
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
  NeighbourSearch neighbours;       // empty for a layout that fits
  // For models with experts: the effect of a different load of experts
  // (planner/report/imbalance.h).
  std::optional<ImbalanceEffect> other_imbalance;
  std::optional<ExpertShare> experts;           // for models with experts
  std::optional<LatentShare> latent_attention;  // for models with latent attention
  std::optional<OffloadEffect> offload;         // for layouts that move something to the host

  friend bool operator==(const Explanation&, const Explanation&) = default;
};

// Explains a layout's estimate. Returns an incomplete explanation once `cancelled` returns true.
// REQUIRES: CheckLayout() accepts the layout, and the estimate is the one under `context`.
//
// `savings` are options of the run that the smallest change may include.
Explanation Explain(const EstimateContext& context, const RankedLayout& ranked,
                    int64_t allowed_bytes, const Cancelled& cancelled = {},
                    const std::vector<OptionSaving>& savings = {});

Binding BindingOf(const Estimate& estimate);

// Returns a sentence that says what fills the fullest device, with numbers.
std::string MemorySentence(const Estimate& estimate);
// Returns a sentence that names the part on which the step spends most time apart from compute, and
// a change that would shrink this part.
std::string TimeSentence(const RankedLayout& ranked);
// Returns MemorySentence() and TimeSentence() together.
std::string BindingSentence(const RankedLayout& ranked);
// Returns a sentence that names the smallest change that makes the layout fit. If this change
// alters the mesh, a second sentence names the smallest change that keeps the mesh. If no change
// was found, the sentence says so. Returns "" for a layout that fits. With `whole_layouts`, changed
// layouts are written with all keys.
std::string ChangeSentence(const RankedLayout& ranked, const Explanation& explanation,
                           bool whole_layouts = false);

}  // namespace meshwright::planner
