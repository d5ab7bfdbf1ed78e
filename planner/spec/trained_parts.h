// TrainedParts says which weights of a model a run trains: all of them, all but some frozen parts,
// or adapters on products whose own weights are frozen.
//
// UnitTraining says how a run trains one unit, such as a layer or the embedding. Gradients end at
// the first unit that trains: units before it have no backward.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/containers/enum_set.h"

namespace meshwright::planner {

// Products of a block that may have an adapter.
enum class AdapterTarget : uint8_t {
  kQuery,
  kKey,
  kValue,
  kOutput,
  kGate,
  kUp,
  kDown,
  kOtherLinear,  // every other linear layer of a block, except routers and indexers
  kExperts       // all products of routed experts, with an adapter for each expert
};
using AdapterTargets = EnumSet<AdapterTarget>;

// The targets of PEFT's all-linear: the linear layers of blocks. Routed experts and routers are
// parameters in transformers 5, not linear layers.
inline constexpr AdapterTargets kAllLinear = {
    AdapterTarget::kQuery, AdapterTarget::kKey, AdapterTarget::kValue, AdapterTarget::kOutput,
    AdapterTarget::kGate,  AdapterTarget::kUp,  AdapterTarget::kDown,  AdapterTarget::kOtherLinear};

enum class AdapterKind : uint8_t {
  kNone,
  kLora,  // two matrices of low rank beside a frozen one (Hu et al., arXiv 2106.09685)
  kDora   // LoRA, and a magnitude for each output (Liu et al., arXiv 2402.09353)
};

// Bytes of a weight in 4 bits (NF4). Each 64 values share a scale of 8 bits, and each 256 of these
// scales share an fp32 scale (Dettmers et al., arXiv 2305.14314).
inline constexpr double kFourBitWeightBytes = 0.5 + 1.0 / 64.0 + 4.0 / (64.0 * 256.0);

struct Adapter {
  // PEFT's default rank.
  static constexpr int32_t kDefaultRank = 8;

  AdapterKind kind = AdapterKind::kNone;
  int32_t rank = 0;
  AdapterTargets targets = {};
  bool four_bit_base = false;  // QLoRA: blocks' frozen matrices are held in 4 bits

  bool exists() const { return kind != AdapterKind::kNone; }

  friend bool operator==(const Adapter&, const Adapter&) = default;
};

// The way in which a run trains the weights of a unit.
enum class UnitTraining : uint8_t {
  kTrained,
  kFrozen,          // the weights are frozen; gradients pass on to an earlier unit that trains
  kWithoutBackward  // the weights are frozen, and no earlier unit trains
};

struct TrainedParts {
  Adapter adapter = {};  // if it exists, all other weights are frozen
  bool freezes_towers = false;
  bool freezes_embedding = false;
  // Layers [first_frozen, end_frozen) are frozen.
  int64_t first_frozen = 0;
  int64_t end_frozen = 0;

  bool all() const { return *this == TrainedParts(); }
  bool freezes_layers() const { return first_frozen < end_frozen; }

  // Each returns how the run trains a unit. `has_towers` says whether the model has towers.
  UnitTraining OfTowers() const;     // patches, blocks and norms
  UnitTraining OfProjector() const;  // the projector of a tower
  UnitTraining OfEmbedding() const;
  UnitTraining OfLayer(int64_t layer, bool has_towers) const;
  UnitTraining OfHead() const;

  friend bool operator==(const TrainedParts&, const TrainedParts&) = default;
};

// Returns the text that ParseTrainedParts() takes, such as "full", "lora:16:q_proj,v_proj" or
// "frozen:tower,layers=0..15". Layers are counted from 0, and a range includes its last layer.
std::string TrainedPartsText(const TrainedParts& parts);

// Parses full, lora:RANK[:TARGETS], qlora:RANK[:TARGETS], dora:RANK[:TARGETS] and frozen:PARTS. The
// default rank is Adapter::kDefaultRank, and the default targets are kAllLinear. Returns
// InvalidArgument naming `train`, with what is accepted, for any other text.
absl::StatusOr<TrainedParts> ParseTrainedParts(std::string_view text);

// Returns the name of a target in PEFT's target_modules, such as "q_proj"; "" for kOtherLinear,
// which has no single name.
std::string_view AdapterTargetName(AdapterTarget target);

}  // namespace meshwright::planner
