// A Rule is a condition that a layout must meet to run. Its RuleEntry has the rule's name, its
// test, and the message for a layout that breaks it.
//
// A search checks these rules at millions of points, so tests allocate nothing. The test of a
// broken rule stores numbers; Describe() turns them into a sentence only when someone reads it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "planner/layout/layout.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/device_kind.h"
#include "planner/spec/layer_shapes.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Each comment describes a layout that breaks the rule. Reports list the counts by rule in this
// order.
enum class Rule : uint8_t {
  kDevices,                   // tp * cp * pp * dp is not the number of devices
  kStages,                    // stages= does not match pp * vpp or the model's layers
  kLayersDivision,            // the layers can't be divided over pp * vpp stages
  kHeadsDivision,             // heads are not a multiple of tp
  kKvHeadsDivision,           // kv_heads are not a multiple of tp
  kRecurrenceDivision,        // the heads of a recurrence are not a multiple of tp * cp
  kSharedBlocks,              // a layer with a shared block is not on the first stage
  kSharedKeys,                // layers that share keys are on other stages than their owner
  kFfnDivision,               // the FFN width is not a multiple of its ranks
  kExpertsMissing,            // ep or etp without experts
  kExpertsDivision,           // experts are not a multiple of ep
  kExpertWidthDivision,       // the expert width is not a multiple of etp
  kExpertMesh,                // tp * cp * dp ranks can't be divided into groups of ep * etp
  kExpertSequenceParallel,    // experts and tp without sequence parallelism
  kExpertHsdp,                // hs= with experts
  kVocabDivision,             // the vocabulary, after any padding, is not a multiple of tp
  kContextDivision,           // seq_len is not a multiple of 2 * cp
  kSequenceParallelTp,        // sequence parallelism without tp
  kSequenceParallelDivision,  // seq_len is not a multiple of tp * cp
  kScheduleChunks,            // the schedule does not take this vpp and pp
  kBatchDivision,             // the global batch is not a multiple of dp * micro-batch
  kInterleaveBatches,         // interleaved micro-batches are not a multiple of pp
  kZeroBubbleBatches,         // fewer micro-batches than a zero-bubble schedule needs
  kRecomputeLayers,           // more recomputed layers than a chunk has
  kRecomputeModules,          // recomputed modules that the model does not have
  kRecomputeTwice,            // a recomputed module inside another recomputed module
  kRecomputeScales,           // recomputed modules that delayed scaling does not allow
  kZeroRanks,                 // ZeRO without ranks to shard over
  kHsdpZero,                  // hs= without ZeRO
  kHsdpDivision,              // dp * cp ranks can't be divided into groups of hs
  kHostFigures,               // offload= without the cluster's figures of its host
  kOffloadLayers,             // more offloaded layers than a chunk has
  kOffloadRecompute,          // offloaded activations of layers that keep none
  kOffloadOptimizer,          // an offloaded optimizer that orthogonalises its updates
  kOffloadWeights,            // offloaded weights without ZeRO-3
  kDeviceFormat,              // the device can't multiply in the precision's format
  kFramework,                 // the framework lacks what the layout uses
  kTooLarge,                  // sizes beyond what the planner can count
  kMaxCp,                     // more context-parallel ranks than the program can run
  kMaxVpp,                    // more chunks than the program can run
  kFfnKind,                   // an FFN that the program has no layer for
  kQkNorm,                    // normalised queries and keys that the program has no layer for
  kModelPart,                 // another part of the model that the program has no layer for
  kHeadDim,                   // head_dim that no kernel takes
  kOneHeadDim,                // heads of several sizes in a program that runs only one size
  kCudaHeadDim,               // head_dim that attention on a GPU does not take
  kPrecision,                 // a number format that the device does not run in
  kAttentionKernel,           // attn= names a kernel that the device does not have
  kNormKernel,                // norm= names a kernel that the program does not have
  kNarrowedPart,              // a part of the model that has no quantised products
  kWidthTiles,                // a width on a rank that cuts scale tiles (tile_rules.h)
  kTokenTiles,                // a number of tokens on a rank that cuts scale tiles
  kHostMemory,                // more bytes moved to the host's memory than it holds
  // A simpler layout is faster and needs no more memory; only for searches.
  kDominated,
  kCount,
};

inline constexpr size_t kRuleCount = static_cast<size_t>(Rule::kCount);

// The input of a rule besides the layout.
struct RuleInput {
  const ModelSpec& model;
  const TrainingSpec& training;
  const FrameworkProfile& profile;  // profile of the program that runs the layout
  int64_t devices = 0;
  DeviceKind device = DeviceKind::kCuda;
  // If true, the device can multiply in the number formats of the training.
  bool device_has_products = true;
  // Null if the cluster is not known, as in an export. Rules about the cluster's hosts are then
  // skipped.
  const ClusterSpec* cluster = nullptr;
  // If true, Rule::kDominated is checked, as in a search.
  bool drops_dominated = false;
  LayerShapes shapes = LayerShapes(model, training.options.train);
};

// The numbers of a broken rule.
struct Operands {
  int64_t value = 0;              // the value that breaks the rule
  int64_t divisor = 0;            // required divisor of `value`, or its bound; 0 if there is none
  std::array<int64_t, 3> more{};  // other numbers in the refusal's sentence

  friend bool operator==(const Operands&, const Operands&) = default;
};

struct Violation {
  Rule rule = Rule::kCount;
  Operands operands;
};

// The level of a rule names the axes that decide whether a layout breaks the rule. Levels are valid
// for layouts without offload, named kernels and rc=block:N; only rules of kLayout take these three
// into account. The levels are in the order in which a search fixes the axes.
enum class RuleLevel : uint8_t {
  kMesh,        // the axes of the mesh, ep and etp
  kPipeline,    // the axes of kMesh, schedule, vpp and stages=
  kMicroBatch,  // the axes of kPipeline and the micro-batch
  kSequence,    // the axes of kMicroBatch and sequence parallelism
  kStates,      // the axes of kMesh, ZeRO and hs=
  kRecompute,   // recompute alone
  kLayout,      // all axes
};

struct RuleEntry {
  Rule rule = Rule::kCount;
  // Stable identifier for counters and JSON, such as "heads_division".
  std::string_view name;
  // Returns whether the layout breaks the rule. Writes `operands` only if the layout breaks the
  // rule.
  bool (*broken)(const RuleInput& input, const Layout& layout, Operands& operands) = nullptr;
  // The sentence, in which $0 is the value and $1 the divisor. Empty if `describe` makes the
  // sentence.
  std::string_view text;
  std::string (*describe)(const Operands& operands) = nullptr;
  RuleLevel level = RuleLevel::kMesh;
};

}  // namespace meshwright::planner
