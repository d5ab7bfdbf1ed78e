#include "planner/search/rules.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "planner/layout/stage_partition.h"

namespace meshwright::planner {
namespace {

using Found = std::optional<Violation>;

Found Divides(Rule rule, int64_t value, int64_t divisor) {
  if (value % divisor == 0) return std::nullopt;
  return Violation{rule, value, divisor};
}

Found CheckDivisions(const EstimateContext& context, const Layout& l) {
  const ModelSpec& model = context.model;
  if (!CanPartition(model, l, context.profile.supports.stage_partition)) {
    return Violation{Rule::kLayersDivision, model.layers(), int64_t{l.pp} * l.vpp};
  }
  if (Found v = Divides(Rule::kHeadsDivision, model.heads, l.tp)) return v;
  const bool replicated = context.profile.supports.kv_replication && l.tp % model.kv_heads == 0;
  if (!replicated) {
    if (Found v = Divides(Rule::kKvHeadsDivision, model.kv_heads, l.tp)) return v;
  }
  for (const LayerGroup& group : model.groups) {
    if (Found v = Divides(Rule::kFfnDivision, group.ffn_hidden, l.tp)) return v;
  }
  if (context.profile.supports.vocab_multiple == 0) {
    if (Found v = Divides(Rule::kVocabDivision, model.vocab, l.tp)) return v;
  }
  if (l.cp > 1) {
    // Causal balance gives each rank one early and one late piece of the sequence.
    return Divides(Rule::kContextDivision, context.training.seq_len, 2 * int64_t{l.cp});
  }
  return std::nullopt;
}

Found CheckSequenceParallel(const EstimateContext& context, const Layout& l) {
  if (!l.sequence_parallel) return std::nullopt;
  if (l.tp == 1) return Violation{Rule::kSequenceParallelTp, l.tp, 0};
  return Divides(Rule::kSequenceParallelDivision, context.training.seq_len, int64_t{l.tp} * l.cp);
}

Found CheckChunks(const Layout& l) {
  switch (l.schedule) {
    case ScheduleKind::kInterleaved:
      if (l.vpp < 2 || l.pp < 2) return Violation{Rule::kScheduleChunks, l.vpp, l.pp};
      return std::nullopt;
    case ScheduleKind::kGpipe:
    case ScheduleKind::k1f1b:
    case ScheduleKind::kZbH1:
      if (l.vpp != 1) return Violation{Rule::kScheduleChunks, l.vpp, l.pp};
      return std::nullopt;
    case ScheduleKind::kZbV:
      if (l.vpp != 2) return Violation{Rule::kScheduleChunks, l.vpp, l.pp};
      return std::nullopt;
    case ScheduleKind::kBreadthFirst:
      return std::nullopt;
  }
  return std::nullopt;
}

Found CheckBatch(const EstimateContext& context, const Layout& l) {
  const int64_t global_batch = context.training.global_batch;
  if (Found v = Divides(Rule::kBatchDivision, global_batch, int64_t{l.dp} * l.micro_batch)) {
    return v;
  }
  const int64_t micro_batches = l.MicroBatches(global_batch);
  const int64_t needed = l.schedule == ScheduleKind::kZbH1  ? l.pp
                         : l.schedule == ScheduleKind::kZbV ? 2 * int64_t{l.pp} - 1
                                                            : 0;
  if (micro_batches < needed) return Violation{Rule::kZeroBubbleBatches, micro_batches, needed};
  if (l.schedule != ScheduleKind::kInterleaved) return std::nullopt;
  return Divides(Rule::kInterleaveBatches, micro_batches, l.pp);
}

Found CheckRecompute(const EstimateContext& context, const Layout& l) {
  if (l.recompute != Recompute::kBlock) return std::nullopt;
  int64_t layers = 0;
  for (int32_t stage = 0; stage < l.pp * l.vpp; ++stage) {
    const StageLayers held =
        StageOf(context.model, l, context.profile.supports.stage_partition, stage);
    layers = std::max(layers, held.layer_count);
  }
  if (l.recompute_layers <= layers) return std::nullopt;
  return Violation{Rule::kRecomputeLayers, l.recompute_layers, layers};
}

// What a framework may lack; the value of a kProfile violation.
enum ProfilePart : int64_t {
  kZeroStage,
  kZeroMinimum,
  kZeroPipeline,
  kSequence,
  kSequenceNeeded,
  kBlock,
  kContext,
  kSchedule,
  kRecompute
};

bool HasSchedule(const FrameworkProfile& profile, ScheduleKind schedule) {
  switch (schedule) {
    case ScheduleKind::kGpipe:
    case ScheduleKind::k1f1b:
      return true;
    case ScheduleKind::kInterleaved:
      return profile.supports.has_interleaving;
    case ScheduleKind::kBreadthFirst:
      return profile.supports.has_breadth_first;
    case ScheduleKind::kZbH1:
      return profile.supports.has_zb_h1;
    case ScheduleKind::kZbV:
      return profile.supports.has_zb_v;
  }
  return false;
}

constexpr std::array<ScheduleKind, 6> kSchedules = {
    ScheduleKind::kGpipe,        ScheduleKind::k1f1b, ScheduleKind::kInterleaved,
    ScheduleKind::kBreadthFirst, ScheduleKind::kZbH1, ScheduleKind::kZbV};

// The schedules that the framework has, one bit each in the order above.
int64_t SchedulesOf(const FrameworkProfile& profile) {
  int64_t bits = 0;
  for (size_t i = 0; i < kSchedules.size(); ++i) {
    if (HasSchedule(profile, kSchedules[i])) bits |= int64_t{1} << i;
  }
  return bits;
}

std::string ScheduleNames(int64_t bits) {
  std::string names;
  for (size_t i = 0; i < kSchedules.size(); ++i) {
    if ((bits >> i & 1) == 0) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(ScheduleName(kSchedules[i])));
  }
  return names;
}

Found CheckProfile(const FrameworkProfile& profile, const Layout& l) {
  const auto lacks = [](ProfilePart part, int64_t bound = 0) {
    return Violation{Rule::kProfile, part, bound};
  };
  if (l.zero > profile.supports.max_zero) return lacks(kZeroStage, profile.supports.max_zero);
  if (l.zero >= 2 && l.pp > 1 && !profile.supports.zero23_with_pipeline)
    return lacks(kZeroPipeline);
  const bool only_replicates = l.zero == 0 && int64_t{l.tp} * l.cp * l.pp == 1;
  if (l.zero < profile.supports.min_zero && int64_t{l.dp} * l.cp > 1 && !only_replicates) {
    return lacks(kZeroMinimum, profile.supports.min_zero);
  }
  if (l.sequence_parallel && !profile.supports.has_sequence_parallel) return lacks(kSequence);
  if (l.tp > 1 && !l.sequence_parallel && profile.supports.tp_needs_sequence_parallel) {
    return lacks(kSequenceNeeded);
  }
  if (l.recompute == Recompute::kBlock && !profile.supports.has_block_recompute)
    return lacks(kBlock);
  if (l.cp > 1 && !profile.supports.has_context_parallel) return lacks(kContext);
  if (l.recompute != Recompute::kNone && !profile.supports.has_recompute) return lacks(kRecompute);
  return HasSchedule(profile, l.schedule) ? std::nullopt
                                          : Found(lacks(kSchedule, SchedulesOf(profile)));
}

std::string DescribeProfilePart(int64_t part, int64_t bound) {
  switch (part) {
    case kZeroStage:
      return absl::StrFormat("the framework has ZeRO stages up to %d", bound);
    case kZeroMinimum:
      return absl::StrFormat("the framework shards with ZeRO stage %d or more", bound);
    case kSequenceNeeded:
      return "the framework's tensor parallel is always sequence parallel (sp1)";
    case kBlock:
      return "the framework recomputes all layers alike (rc=none, selective or full)";
    case kZeroPipeline:
      return "the framework does not combine ZeRO 2 and 3 with pipeline parallel, only "
             "ZeRO 0 and 1";
    case kSequence:
      return "the framework does not have sequence parallel, only sp0";
    case kContext:
      return "the framework does not have context parallel, only cp1";
    case kRecompute:
      return "the framework does not have recompute, only rc=none";
    default:
      return absl::StrCat("the framework does not have this schedule; it has ",
                          ScheduleNames(bound));
  }
}

// Bytes of the largest thing the planner counts must stay far inside 64 bits.
Found CheckSize(const EstimateContext& context, const Layout& l) {
  const ModelSpec& model = context.model;
  int64_t width = std::max({model.hidden, model.vocab, model.heads * model.head_dim});
  for (const LayerGroup& group : model.groups) width = std::max(width, group.ffn_hidden);
  const double bytes = 64.0 * static_cast<double>(width) * static_cast<double>(model.layers()) *
                       static_cast<double>(context.training.seq_len) * l.micro_batch;
  if (bytes < 4e18) return std::nullopt;
  return Violation{Rule::kTooLarge, context.training.seq_len, 0};
}

}  // namespace

std::string_view RuleName(Rule rule) {
  switch (rule) {
    case Rule::kDevices:
      return "devices";
    case Rule::kBatchDivision:
      return "batch_division";
    case Rule::kLayersDivision:
      return "layers_division";
    case Rule::kHeadsDivision:
      return "heads_division";
    case Rule::kKvHeadsDivision:
      return "kv_heads_division";
    case Rule::kFfnDivision:
      return "ffn_division";
    case Rule::kVocabDivision:
      return "vocab_division";
    case Rule::kContextDivision:
      return "context_division";
    case Rule::kSequenceParallelTp:
      return "sequence_parallel_without_tp";
    case Rule::kSequenceParallelDivision:
      return "sequence_parallel_division";
    case Rule::kScheduleChunks:
      return "schedule_chunks";
    case Rule::kInterleaveBatches:
      return "interleave_batches";
    case Rule::kZeroBubbleBatches:
      return "zero_bubble_batches";
    case Rule::kRecomputeLayers:
      return "recompute_layers";
    case Rule::kZeroRanks:
      return "zero_without_ranks";
    case Rule::kProfile:
      return "framework";
    case Rule::kTooLarge:
      return "too_large";
    case Rule::kWorker:
      return "worker";
    case Rule::kCount:
      break;
  }
  return "";
}

std::string Describe(const Violation& v) {
  const int64_t a = v.value;
  const int64_t b = v.divisor;
  switch (v.rule) {
    case Rule::kDevices:
      return absl::StrFormat("tp * cp * pp * dp is %d, but there are %d devices", a, b);
    case Rule::kBatchDivision:
      return absl::StrFormat("global batch %d is not a multiple of dp * micro-batch = %d", a, b);
    case Rule::kLayersDivision:
      return absl::StrFormat("%d layers can't be divided over pp * vpp = %d stages", a, b);
    case Rule::kHeadsDivision:
      return absl::StrFormat("%d attention heads are not a multiple of tp = %d", a, b);
    case Rule::kKvHeadsDivision:
      return absl::StrFormat("%d key/value heads are not a multiple of tp = %d", a, b);
    case Rule::kFfnDivision:
      return absl::StrFormat("FFN width %d is not a multiple of tp = %d", a, b);
    case Rule::kVocabDivision:
      return absl::StrFormat("vocabulary %d is not a multiple of tp = %d", a, b);
    case Rule::kContextDivision:
      return absl::StrFormat("sequence length %d is not a multiple of 2 * cp = %d", a, b);
    case Rule::kSequenceParallelTp:
      return "sequence parallel (sp1) needs tp of at least 2";
    case Rule::kSequenceParallelDivision:
      return absl::StrFormat("sequence length %d is not a multiple of tp * cp = %d", a, b);
    case Rule::kScheduleChunks:
      return absl::StrFormat(
          "vpp = %d does not go with the schedule and pp = %d: interleaved takes vpp and pp of at "
          "least 2, zb_v vpp 2, gpipe, 1f1b and zb_h1 vpp 1",
          a, b);
    case Rule::kInterleaveBatches:
      return absl::StrFormat(
          "%d micro-batches are not a multiple of pp = %d, as interleaving needs", a, b);
    case Rule::kZeroBubbleBatches:
      return absl::StrFormat(
          "%d micro-batches are fewer than the %d that hide the bubble: zb_h1 needs pp, zb_v "
          "2 * pp - 1",
          a, b);
    case Rule::kRecomputeLayers:
      return absl::StrFormat("rc=block:%d recomputes more layers than the %d of a chunk", a, b);
    case Rule::kZeroRanks:
      return absl::StrFormat("zero%d has nothing to shard over: dp * cp is 1", a);
    case Rule::kProfile:
      return DescribeProfilePart(a, b);
    case Rule::kTooLarge:
      return absl::StrFormat("sequence length %d with this model and micro-batch is too large", a);
    case Rule::kWorker:
      return "the worker cannot run this layout";
    case Rule::kCount:
      break;
  }
  return "";
}

Found CheckLayout(const EstimateContext& context, int64_t devices, const Layout& layout) {
  if (layout.devices() != devices) return Violation{Rule::kDevices, layout.devices(), devices};
  if (Found v = CheckDivisions(context, layout)) return v;
  if (Found v = CheckSequenceParallel(context, layout)) return v;
  if (Found v = CheckChunks(layout)) return v;
  if (Found v = CheckRecompute(context, layout)) return v;
  if (layout.zero > 0 && int64_t{layout.dp} * layout.cp == 1) {
    return Violation{Rule::kZeroRanks, layout.zero, 0};
  }
  if (Found v = CheckProfile(context.profile, layout)) return v;
  if (Found v = CheckSize(context, layout)) return v;
  // Last, so that a layout which breaks it would run with another global batch.
  return CheckBatch(context, layout);
}

}  // namespace meshwright::planner
