// A Rule decides whether layouts can run; RuleEntry is its name, its test, and the sentence for a
// layout that breaks it.
//
// A search checks these rules at millions of points, so tests allocate nothing, and a broken rule
// stores numbers that become a sentence only when it is read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "planner/layout/layout.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/device_kind.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// In the order in which counts by rule are shown.
enum class Rule : uint8_t {
  kDevices,                   // tp * cp * pp * dp is not the number of devices
  kStages,                    // stages= against pp, vpp and the model's layers
  kLayersDivision,            // layers % (pp * vpp)
  kHeadsDivision,             // heads % tp
  kKvHeadsDivision,           // kv_heads % tp
  kFfnDivision,               // FFN width % tp
  kExpertsMissing,            // ep or etp without experts
  kExpertsDivision,           // experts % ep
  kExpertWidthDivision,       // expert width % etp
  kExpertMesh,                // tp * cp * dp % (ep * etp)
  kExpertSequenceParallel,    // experts under tp without sequence parallel
  kExpertHsdp,                // hs= with experts
  kVocabDivision,             // vocabulary % tp, where the framework does not pad it
  kContextDivision,           // seq_len % (2 * cp)
  kSequenceParallelTp,        // sequence parallel without tp
  kSequenceParallelDivision,  // seq_len % (tp * cp)
  kScheduleChunks,            // vpp against pp and the schedule
  kBatchDivision,             // global batch % (dp * micro-batch)
  kInterleaveBatches,         // micro-batches % pp under interleaving
  kZeroBubbleBatches,         // fewer micro-batches than a zero-bubble schedule needs
  kRecomputeLayers,           // more recomputed layers than a chunk has
  kRecomputeModules,          // recomputed modules that the model does not have
  kRecomputeTwice,            // a recomputed module inside another
  kRecomputeScales,           // recomputed modules under delayed scales
  kZeroRanks,                 // ZeRO without ranks to shard over
  kHsdpZero,                  // hs= without ZeRO
  kHsdpDivision,              // dp * cp % hs
  kHostFigures,               // offload= without the cluster's figures of its host
  kOffloadLayers,             // more offloaded layers than a chunk has
  kOffloadRecompute,          // offloaded activations of layers that keep none
  kOffloadOptimizer,          // an offloaded optimizer that no host runs
  kDeviceFormat,              // the precision's products against what the device multiplies
  kFramework,                 // the framework lacks what the layout uses
  kTooLarge,                  // sizes beyond what the planner can count
  kMaxCp,                     // more context-parallel ranks than can be run
  kMaxVpp,                    // more chunks than can be run
  kFfnKind,                   // an FFN that the program has no layer for
  kQkNorm,                    // normed heads that the program has no layer for
  kModelPart,                 // another part of the model that the program has no layer for
  kHeadDim,                   // head_dim that no kernel takes
  kOneHeadDim,                // heads of several sizes, of which only one can be run
  kCudaHeadDim,               // head_dim that attention on a GPU does not take
  kPrecision,                 // a number format that the device does not run in
  kAttentionKernel,           // attn= names a kernel that the device does not have
  kNormKernel,                // norm= names a kernel that the program does not have
  kNarrowedPart,              // a part of the model that has no narrowed products
  kWidthTiles,                // widths on a rank that would cut tiles of narrowed factors
  kTokenTiles,                // tokens on a rank that would cut tiles of narrowed factors
  kHostMemory,                // more in the host's memory than it holds
  kDominated,                 // a simpler layout is as small and faster; only searches apply it
  kCount,
};

inline constexpr size_t kRuleCount = static_cast<size_t>(Rule::kCount);

// What a rule may look at in addition to the layout.
struct RuleInput {
  const ModelSpec& model;
  const TrainingSpec& training;
  const FrameworkProfile& profile;  // of the program that runs the layout
  int64_t devices = 0;
  DeviceKind device = DeviceKind::kCuda;
  bool device_has_products = true;  // in the format that the training's precision narrows them to
  // Null where the cluster is not known, as in an export; rules about its hosts are then skipped.
  const ClusterSpec* cluster = nullptr;
  // Whether a layout that another one dominates is dropped although it can run.
  bool drops_dominated = false;
};

// The numbers of a broken rule.
struct Operands {
  int64_t value = 0;              // the value that breaks the rule
  int64_t divisor = 0;            // its required divisor or its bound; 0 where there is none
  std::array<int64_t, 3> more{};  // other numbers of the sentence

  friend bool operator==(const Operands&, const Operands&) = default;
};

struct Violation {
  Rule rule = Rule::kCount;
  Operands operands;
};

// The axes that decide whether a layout breaks a rule, in the order in which a search fixes them.
// Applies to layouts without offload, named kernels and rc=block:N, which only kLayout takes into
// account.
enum class RuleLevel : uint8_t {
  kMesh,        // the axes of the mesh, ep and etp
  kPipeline,    // and schedule, vpp and stages=
  kMicroBatch,  // and the micro-batch
  kSequence,    // and sequence parallel
  kStates,      // ZeRO and hs= with the mesh
  kRecompute,   // recompute alone
  kLayout,      // all axes
};

struct RuleEntry {
  Rule rule = Rule::kCount;
  // Stable identifier for counters and JSON, such as "heads_division".
  std::string_view name;
  // Returns whether the layout breaks the rule. Writes `operands` only if it does.
  bool (*broken)(const RuleInput& input, const Layout& layout, Operands& operands) = nullptr;
  // The sentence, in which $0 is the value and $1 the divisor. Empty where `describe` makes it.
  std::string_view text;
  std::string (*describe)(const Operands& operands) = nullptr;
  RuleLevel level = RuleLevel::kMesh;
};

}  // namespace meshwright::planner
