#include "planner/rules/rule_list.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "base/text/string_view.h"
#include "planner/rules/expert_rules.h"
#include "planner/rules/framework_rules.h"
#include "planner/rules/kernel_rules.h"
#include "planner/rules/layer_kind_rules.h"
#include "planner/rules/limit_rules.h"
#include "planner/rules/mesh_rules.h"
#include "planner/rules/offload_rules.h"
#include "planner/rules/recompute_rules.h"
#include "planner/rules/tile_rules.h"

namespace meshwright::planner {
namespace {

constexpr std::array<RuleEntry, kRuleCount> kRules = {{
    {Rule::kDevices, "devices", DevicesDiffer, "tp * cp * pp * dp is $0, but there are $1 devices"},
    {Rule::kStages, "stages", StagesDoNotFit, "", DescribeStages, RuleLevel::kPipeline},
    {Rule::kLayersDivision, "layers_division", LayersDoNotDivide,
     "$0 layers can't be divided over pp * vpp = $1 stages", nullptr, RuleLevel::kPipeline},
    {Rule::kSharedBlocks, "shared_blocks", SharedBlocksCrossStages,
     "layer $0 is on stage $1, but reads the embedding and runs weights of another layer; such "
     "layers must be on the first stage",
     nullptr, RuleLevel::kPipeline},
    {Rule::kSharedKeys, "shared_keys", SharedKeysCrossStages,
     "layer $0 shares keys of layers from $1 on, which must be on its stage", nullptr,
     RuleLevel::kPipeline},
    {Rule::kHeadsDivision, "heads_division", HeadsDoNotDivide,
     "$0 attention heads are not a multiple of tp = $1"},
    {Rule::kKvHeadsDivision, "kv_heads_division", KvHeadsDoNotDivide,
     "$0 key/value heads are not a multiple of tp = $1"},
    {Rule::kRecurrenceDivision, "recurrence_division", RecurrenceDoesNotDivide,
     "$0 heads or groups of a recurrent layer can't be divided over tp * cp = $1"},
    {Rule::kFfnDivision, "ffn_division", FfnDoesNotDivide,
     "FFN width $0 is not a multiple of tp = $1"},
    {Rule::kExpertsMissing, "experts_missing", DividesMissingExperts,
     "ep$0 and etp$1 divide experts, but the model has none"},
    {Rule::kExpertsDivision, "experts_division", ExpertsDoNotDivide,
     "$0 experts are not a multiple of ep = $1"},
    {Rule::kExpertWidthDivision, "expert_width_division", ExpertWidthDoesNotDivide,
     "expert width $0 is not a multiple of etp = $1"},
    {Rule::kExpertMesh, "expert_mesh", ExpertMeshDoesNotFit,
     "tp * cp * dp = $0 ranks can't be divided into groups of ep * etp = $1"},
    {Rule::kExpertSequenceParallel, "experts_without_sequence_parallel",
     ExpertsLackSequenceParallel,
     "experts under tp$0 need sequence parallel (sp1): without it all tp ranks route the same "
     "tokens",
     nullptr, RuleLevel::kSequence},
    {Rule::kExpertHsdp, "hs_with_experts", ExpertsUnderHsdp,
     "experts under hs= need groups of hs * tp = $0 ranks that consist of groups of ep * etp = $1, "
     "and a framework other than Meshwright's own worker",
     nullptr, RuleLevel::kStates},
    {Rule::kVocabDivision, "vocab_division", VocabDoesNotDivide,
     "vocabulary $0 is not a multiple of the $1 ranks that divide it: tp, times pp if the schedule "
     "divides the vocabulary",
     nullptr, RuleLevel::kPipeline},
    {Rule::kContextDivision, "context_division", ContextDoesNotDivide,
     "sequence length $0 is not a multiple of 2 * cp = $1"},
    {Rule::kSequenceParallelTp, "sequence_parallel_without_tp", SequenceParallelLacksTp,
     "sequence parallel (sp1) needs tp of at least 2", nullptr, RuleLevel::kSequence},
    {Rule::kSequenceParallelDivision, "sequence_parallel_division", SequenceDoesNotDivide,
     "sequence length $0 is not a multiple of tp * cp = $1", nullptr, RuleLevel::kSequence},
    {Rule::kScheduleChunks, "schedule_chunks", ChunksDoNotFit,
     "vpp = $0 is not possible with this schedule and pp = $1: interleaved needs vpp and pp of at "
     "least 2; zb_v, v_half and v_half_vocab1 need vpp 2; the others need vpp 1",
     nullptr, RuleLevel::kPipeline},
    {Rule::kRecomputeLayers, "recompute_layers", RecomputesMoreThanAChunk,
     "rc=block:$0 recomputes more layers than the $1 of a chunk", nullptr, RuleLevel::kLayout},
    {Rule::kRecomputeModules, "recompute_modules", RecomputesMissingModules, "",
     DescribeMissingModules, RuleLevel::kRecompute},
    {Rule::kRecomputeTwice, "recompute_twice", RecomputesTwice, "", DescribeTwice,
     RuleLevel::kRecompute},
    {Rule::kRecomputeScales, "recompute_scales", RecomputesUnderDelayedScales, "",
     DescribeDelayedScales, RuleLevel::kRecompute},
    {Rule::kZeroRanks, "zero_without_ranks", ZeroLacksRanks,
     "zero$0 has nothing to shard over: dp * cp is 1", nullptr, RuleLevel::kStates},
    {Rule::kHsdpZero, "hs_without_zero", HsdpLacksZero,
     "hs=$0 is the number of ranks over which ZeRO shards: it needs zero1, 2 or 3", nullptr,
     RuleLevel::kStates},
    {Rule::kHsdpDivision, "hs_division", ReplicasDoNotDivide,
     "dp * cp = $0 ranks can't be divided into groups of hs=$1", nullptr, RuleLevel::kStates},
    {Rule::kOffloadLayers, "offload_layers", OffloadsMoreThanAChunk,
     "offload=act:$0 moves the activations of more layers than the $1 of a chunk", nullptr,
     RuleLevel::kLayout},
    {Rule::kOffloadRecompute, "offload_with_recompute", OffloadsRecomputed,
     "offload=act:$0 moves what layers keep, and under rc=full and rc=block they keep only their "
     "input, which stays on the device under this framework: it needs rc=none, selective or "
     "modules",
     nullptr, RuleLevel::kLayout},
    {Rule::kOffloadOptimizer, "offload_optimizer", OffloadsOrthogonalised,
     "offload=opt updates weights on the host, which is planned for AdamW only, not for the matrix "
     "products of Muon",
     nullptr, RuleLevel::kLayout},
    {Rule::kOffloadWeights, "offload_weights", OffloadsWholeWeights,
     "offload=opt+param needs zero$1, which gathers weights before they are needed: zero is $0",
     nullptr, RuleLevel::kLayout},
    {Rule::kDeviceFormat, "device_format", DeviceLacksFormat, "", DescribeDeviceFormat},
    {Rule::kFramework, "framework", FrameworkLacksIt, "", DescribeFramework, RuleLevel::kLayout},
    // These follow the framework's own rules, which tell the user more if no cluster would help.
    {Rule::kHostFigures, "host_figures", LacksHostFigures, "", DescribeHostFigures,
     RuleLevel::kLayout},
    {Rule::kPrecision, "precision", LacksPrecision, "", DescribePrecision},
    {Rule::kFfnKind, "ffn_kind", LacksFfn, "", DescribeFfn},
    {Rule::kQkNorm, "qk_norm", LacksQkNorm,
     "the worker can't run qk_norm = true; it runs qk_norm = false"},
    {Rule::kModelPart, "model_part", LacksModelPart, "", DescribeModelPart},
    {Rule::kHeadDim, "head_dim", LacksHeadDim, "", DescribeHeadDim},
    {Rule::kAttentionKernel, "attention_kernel", LacksAttention, "", DescribeAttention,
     RuleLevel::kLayout},
    {Rule::kNormKernel, "norm_kernel", LacksNorm, "", DescribeNorm, RuleLevel::kLayout},
    {Rule::kNarrowedPart, "narrowed_part", NarrowsMissingPart, "", DescribeNarrowedPart},
    {Rule::kWidthTiles, "width_tiles", CutsWidthTiles, "", DescribeWidthTiles},
    {Rule::kTokenTiles, "token_tiles", CutsTokenTiles, "", DescribeTokenTiles,
     RuleLevel::kSequence},
    {Rule::kOneHeadDim, "one_head_dim", LacksSeveralHeadDims,
     "the worker can't run head_dim = $0 and $1; it runs one head_dim for all layers"},
    {Rule::kCudaHeadDim, "cuda_head_dim", LacksHeadDimOnCuda, "", DescribeHeadDimOnCuda},
    {Rule::kMaxCp, "max_cp", HasTooManyContextRanks,
     "the worker can't run cp$0; it runs cp up to $1"},
    {Rule::kMaxVpp, "max_vpp", HasTooManyChunks, "the worker can't run vpp$0; it runs vpp up to $1",
     nullptr, RuleLevel::kPipeline},
    {Rule::kTooLarge, "too_large", IsTooLarge,
     "sequence length $0 with this model and micro-batch is too large", nullptr,
     RuleLevel::kMicroBatch},
    // These come last, so that a layout which breaks one of them would run with another global
    // batch.
    {Rule::kBatchDivision, "batch_division", BatchDoesNotDivide,
     "global batch $0 is not a multiple of dp * micro-batch = $1", nullptr, RuleLevel::kMicroBatch},
    {Rule::kZeroBubbleBatches, "zero_bubble_batches", TooFewMicroBatches,
     "$0 micro-batches are fewer than the $1 that hide the bubble: zb_h1 needs pp, zb_v "
     "2 * pp - 1, v_half 2 * pp",
     nullptr, RuleLevel::kMicroBatch},
    {Rule::kInterleaveBatches, "interleave_batches", RoundsAreNotWhole,
     "$0 micro-batches are not a multiple of pp = $1, as interleaving needs", nullptr,
     RuleLevel::kMicroBatch},
    // Needs the layout's memory, so it is checked only where nothing else is broken.
    {Rule::kHostMemory, "host_memory", OverfillsHost, "", DescribeHostMemory, RuleLevel::kLayout},
    // Such a layout can run, so a user who asks for it gets an estimate.
    {Rule::kDominated, "dominated", IsDominated,
     "rc=selective frees nothing here, because attention keeps no scores; rc=none takes the same "
     "memory and is faster",
     nullptr, RuleLevel::kRecompute},
}};

// Returns the index of each rule in the list.
constexpr std::array<size_t, kRuleCount> Places() {
  std::array<size_t, kRuleCount> places{};
  for (size_t i = 0; i < kRuleCount; ++i) places[static_cast<size_t>(kRules[i].rule)] = i;
  return places;
}

constexpr bool HasEveryRuleOnce() {
  std::array<int, kRuleCount> times{};
  for (const RuleEntry& entry : kRules) ++times[static_cast<size_t>(entry.rule)];
  for (const int count : times) {
    if (count != 1) return false;
  }
  return true;
}
static_assert(HasEveryRuleOnce());

constexpr std::array<size_t, kRuleCount> kPlaces = Places();

template <size_t kPlace>
inline bool Breaks(const RuleInput& input, const Layout& layout, Violation& violation) {
  constexpr RuleEntry kEntry = kRules[kPlace];
  if (!kEntry.broken(input, layout, violation.operands)) return false;
  violation.rule = kEntry.rule;
  return true;
}

// The compiler knows the list and inlines the tests, without a call each: a search runs them for
// every point.
template <size_t... kPlace>
[[gnu::flatten]] bool BreaksAny(const RuleInput& input, const Layout& layout, Violation& violation,
                                std::index_sequence<kPlace...> /*all*/) {
  return (Breaks<kPlace>(input, layout, violation) || ...);
}

// A rule, or the part of a rule that has a level.
struct RuleCheck {
  size_t place = kRuleCount;
  RuleLevel level = RuleLevel::kLayout;
  bool (*broken)(const RuleInput& input, const Layout& layout, Operands& operands) = nullptr;
};

// The framework's rule depends on every axis, but no part of it on all of them together.
constexpr std::array<RuleCheck, 8> kFrameworkChecks = {{
    {kPlaces[static_cast<size_t>(Rule::kFramework)], RuleLevel::kMesh, LacksForModel},
    {kPlaces[static_cast<size_t>(Rule::kFramework)], RuleLevel::kMesh, LacksAxis},
    {kPlaces[static_cast<size_t>(Rule::kFramework)], RuleLevel::kPipeline, LacksStages},
    {kPlaces[static_cast<size_t>(Rule::kFramework)], RuleLevel::kPipeline, LacksSchedule},
    {kPlaces[static_cast<size_t>(Rule::kFramework)], RuleLevel::kSequence, LacksSequenceParallel},
    {kPlaces[static_cast<size_t>(Rule::kFramework)], RuleLevel::kStates, LacksZero},
    {kPlaces[static_cast<size_t>(Rule::kFramework)], RuleLevel::kStates, LacksHsdp},
    {kPlaces[static_cast<size_t>(Rule::kFramework)], RuleLevel::kRecompute, LacksRecompute},
}};

// Returns every check once, in the order of the rules.
constexpr auto Checks() {
  std::array<RuleCheck, kRuleCount + kFrameworkChecks.size()> checks{};
  size_t count = 0;
  for (size_t place = 0; place < kRuleCount; ++place) {
    checks[count++] = {place, kRules[place].level, kRules[place].broken};
    if (kRules[place].rule != Rule::kFramework) continue;
    for (const RuleCheck& check : kFrameworkChecks) checks[count++] = check;
  }
  return checks;
}
constexpr auto kChecks = Checks();

template <RuleLevel kLevel, size_t... kCheck>
[[gnu::flatten]] RuleVerdict FirstOf(const RuleInput& input, const Layout& layout, size_t before,
                                     std::index_sequence<kCheck...> /*all*/) {
  RuleVerdict verdict;
  const auto ends = [&]<size_t kNumber>(std::integral_constant<size_t, kNumber>) {
    constexpr RuleCheck kOne = kChecks[kNumber];
    if constexpr (kOne.level == kLevel) {
      if (kOne.place >= before) return true;
      if (!kOne.broken(input, layout, verdict.operands)) return false;
      verdict.place = kOne.place;
      return true;
    } else {
      return false;
    }
  };
  (ends(std::integral_constant<size_t, kCheck>()) || ...);
  return verdict;
}

template <RuleLevel kLevel>
RuleVerdict FirstOf(const RuleInput& input, const Layout& layout, size_t before) {
  return FirstOf<kLevel>(input, layout, before, std::make_index_sequence<kChecks.size()>());
}

const RuleEntry& EntryOf(Rule rule) { return kRules[kPlaces[static_cast<size_t>(rule)]]; }

}  // namespace

const std::array<RuleEntry, kRuleCount>& Rules() { return kRules; }

std::string_view RuleName(Rule rule) { return EntryOf(rule).name; }

std::string Describe(const Violation& violation) {
  const RuleEntry& entry = EntryOf(violation.rule);
  const Operands& operands = violation.operands;
  if (entry.describe != nullptr) return entry.describe(operands);
  return absl::Substitute(AbslView(entry.text), operands.value, operands.divisor);
}

std::optional<Violation> CheckLayout(const RuleInput& input, const Layout& layout) {
  std::optional<Violation> found(std::in_place);  // filled in place, not copied
  if (!BreaksAny(input, layout, *found, std::make_index_sequence<kRuleCount>())) found.reset();
  return found;
}

RuleVerdict CheckLevel(RuleLevel level, const RuleInput& input, const Layout& layout,
                       size_t before) {
  switch (level) {
    case RuleLevel::kMesh:
      return FirstOf<RuleLevel::kMesh>(input, layout, before);
    case RuleLevel::kPipeline:
      return FirstOf<RuleLevel::kPipeline>(input, layout, before);
    case RuleLevel::kMicroBatch:
      return FirstOf<RuleLevel::kMicroBatch>(input, layout, before);
    case RuleLevel::kSequence:
      return FirstOf<RuleLevel::kSequence>(input, layout, before);
    case RuleLevel::kStates:
      return FirstOf<RuleLevel::kStates>(input, layout, before);
    case RuleLevel::kRecompute:
      return FirstOf<RuleLevel::kRecompute>(input, layout, before);
    case RuleLevel::kLayout:
      break;
  }
  return FirstOf<RuleLevel::kLayout>(input, layout, before);
}

size_t FirstPlaceOf(RuleLevel level) {
  for (const RuleCheck& check : kChecks) {
    if (check.level == level) return check.place;
  }
  return kRuleCount;
}

RuleInput RuleInputOf(const EstimateContext& context, int64_t devices) {
  return {.model = context.model,
          .training = context.training,
          .profile = context.profile,
          .devices = devices,
          .device = context.cluster.device_kind(),
          .device_has_products = HasProducts(context.cluster.device, context.training),
          .cluster = &context.cluster,
          .shapes = context.shapes};
}

std::optional<Violation> CheckLayout(const EstimateContext& context, int64_t devices,
                                     const Layout& layout) {
  return CheckLayout(RuleInputOf(context, devices), layout);
}

bool IsAboutKernels(Rule rule) {
  switch (rule) {
    case Rule::kPrecision:
    case Rule::kFfnKind:
    case Rule::kQkNorm:
    case Rule::kModelPart:
    case Rule::kHeadDim:
    case Rule::kOneHeadDim:
    case Rule::kCudaHeadDim:
    case Rule::kAttentionKernel:
    case Rule::kNormKernel:
    case Rule::kNarrowedPart:
      return true;
    default:
      return false;
  }
}

}  // namespace meshwright::planner
