#include "planner/measurement/measured_layout.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/block/stage_partition.h"
#include "planner/layout/keys.h"
#include "planner/layout/mesh.h"
#include "planner/measurement/expert_notes.h"
#include "planner/measurement/noted_values.h"
#include "planner/measurement/source_words.h"
#include "planner/rules/recompute_rules.h"

namespace meshwright::planner {
namespace {

// Wide enough for every cluster there is, and no product of four axes leaves 64 bits.
constexpr int64_t kMostRanks = 1 << 13;
constexpr int64_t kMaxDevices = 1 << 22;

absl::Status Empty(std::string_view column) {
  return FieldError(column, "(empty)", "this column is needed");
}

// A size that must be there and be 1 to `high`.
absl::StatusOr<int32_t> Size(std::string_view column, const OptionalInt& value, int64_t high) {
  if (!value) return Empty(column);
  RETURN_IF_ERROR(CheckRange(column, *value, 1, high));
  return static_cast<int32_t>(*value);
}

absl::Status ReadAxes(const Measurement& row, Layout& layout) {
  for (const LayoutKey& axis : kAxes) {
    if (axis.count == &Layout::dp) continue;
    OptionalInt size = WholeCell(row, axis.column);
    if (!size && axis.text != KeyText::kNeeded) size = 1;
    ASSIGN_OR_RETURN(layout.*axis.count,
                     Size(axis.name, size, std::min<int64_t>(kMostRanks, axis.high)));
  }
  if (row.dp) {
    ASSIGN_OR_RETURN(layout.dp, Size("dp", row.dp, kMaxDevices));
    return absl::OkStatus();
  }
  if (!row.gpus) return Empty("dp");
  ASSIGN_OR_RETURN(const int32_t gpus, Size("gpus", row.gpus, kMaxDevices));
  const int64_t others = layout.devices();
  if (gpus % others != 0) {
    return FieldError("gpus", gpus,
                      "must be a multiple of tp * cp * pp = " + std::to_string(others));
  }
  layout.dp = static_cast<int32_t>(gpus / others);
  return absl::OkStatus();
}

// The modules of Megatron-LM's selective recompute, "recompute_modules=mlp mla_up_proj;" or
// "recompute-modules=[layernorm mlp]", among a row's notes; empty if they name none.
std::string_view NotedModules(std::string_view notes) {
  for (const std::string_view key : {"recompute_modules=", "recompute-modules=["}) {
    const size_t at = notes.find(key);
    if (at == std::string_view::npos) continue;
    notes.remove_prefix(at + key.size());
    return notes.substr(0, notes.find_first_of(";]"));
  }
  return {};
}

absl::Status ReadRecompute(const Measurement& row, const ModelSpec& model, Layout& layout) {
  const auto recompute = MeaningOfRecompute(row.act_ckpt);
  if (!recompute) {
    if (ParseRecompute(absl::AsciiStrToLower(row.act_ckpt), layout).ok()) return absl::OkStatus();
    return FieldError(
        "act_ckpt", row.act_ckpt,
        "must be none, selective, full, block:N or modules divided by +: " + AllRecomputeModules());
  }
  layout.recompute = *recompute;
  if (layout.recompute == Recompute::kSelective && RecomputesEveryNthBlock(row.notes)) {
    // Sources that do not say n take every second.
    layout.recompute = Recompute::kBlock;
    layout.recompute_layers = static_cast<int32_t>(model.layers() / 2);
    return absl::OkStatus();
  }
  const std::string_view modules = NotedModules(row.notes);
  if (layout.recompute != Recompute::kSelective || modules.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const RecomputeModules named, ParseRecomputeModules(modules));
  layout.recompute_modules = named.And(RecomputeModulesOf(model));
  layout.recompute = layout.recompute_modules.empty() ? Recompute::kNone : Recompute::kModules;
  return absl::OkStatus();
}

// Returns the text of COLUMN=TEXT in the notes; empty if the notes have no such text or several.
std::string NotedText(std::string_view notes, std::string_view column) {
  const std::vector<std::string_view> values = NotedValues(notes, column);
  return values.size() == 1 ? std::string(values.front()) : "";
}

// Returns the row's attention. Megatron-LM's own layers, in place of Transformer Engine's, write
// the matrix of scores.
std::string AttentionWords(const Measurement& row) {
  const bool is_local = row.attn.empty() && NotedText(row.notes, "transformer-impl") == "local";
  return is_local ? "unfused" : row.attn;
}

// A kernel that is named more loosely than the planner tells them apart is the framework's own.
absl::Status ReadKernels(const Measurement& row, Layout& layout) {
  const auto attention = MeaningOfAttention(AttentionWords(row));
  if (!attention) return FieldError("attn", row.attn, "no attention kernel of this name");
  layout.attention = *attention;
  const auto norm = MeaningOfNorm(row.norm_kernel);
  if (!norm) return FieldError("norm_kernel", row.norm_kernel, "must be fused or eager");
  layout.norm = *norm;
  return absl::OkStatus();
}

absl::Status ReadSchedule(const Measurement& row, const ModelSpec& model, Layout& layout) {
  if (row.schedule.empty()) {
    layout.schedule = layout.vpp > 1 ? ScheduleKind::kInterleaved : ScheduleKind::k1f1b;
    return absl::OkStatus();
  }
  const ScheduleMeaning meaning = MeaningOfSchedule(row.schedule);
  if (!meaning.known_as.empty()) {
    return FieldError("schedule", row.schedule,
                      "is not modelled yet: " + std::string(meaning.known_as));
  }
  if (!meaning.kind) {
    return FieldError(
        "schedule", row.schedule,
        "is not modelled; 1f1b, 1f1b-interleaved, gpipe, breadth_first, fsdp, zb-1p, zb-2p, "
        "zb-v, v-half, 1f1b+vocab-1, 1f1b+vocab-2, 1f1b+interlaced and v-half+vocab-1 are");
  }
  layout.schedule = *meaning.kind;
  // The V is two chunks by its nature, and interleaving takes at least two.
  const bool has_chunks =
      IsV(layout.schedule) || (layout.schedule == ScheduleKind::kInterleaved && !row.vpp);
  if (has_chunks && row.vpp.value_or(1) == 1) layout.vpp = 2;
  const int64_t stages = int64_t{layout.pp} * layout.vpp;
  if (meaning.evens_stages && stages > 1 && model.layers() > 0) {
    layout.stages = SplitByCost(model, row.seq.value_or(0), stages);
  }
  return absl::OkStatus();
}

// The keys whose cells, or notes, are the layout's own text.
absl::Status ReadOwnTexts(const Measurement& row, Layout& layout) {
  for (const LayoutKey& key : kLayoutKeys) {
    if (key.column_in_words) continue;
    std::string cell = CellText(row, key.column);
    if (cell.empty()) cell = NotedText(row.notes, key.column);
    if (!cell.empty()) RETURN_IF_ERROR(ReadValue(key, cell, layout));
  }
  return absl::OkStatus();
}

absl::Status ReadExperts(const Measurement& row, Layout& layout) {
  ASSIGN_OR_RETURN(layout.ep, Size("ep", row.ep, kMostRanks));
  ASSIGN_OR_RETURN(layout.etp, Size("etp", ExpertTensorRanksOf(row), kMostRanks));
  if (row.seq_parallel.empty()) layout.sequence_parallel = layout.tp > 1;
  return absl::OkStatus();
}

// InternEvo's zero1=N: the ranks among which optimizer states are sharded. -1 is all of them.
OptionalInt NotedZero1Size(std::string_view notes) {
  for (const std::string_view value : NotedValues(notes, "zero1")) {
    int64_t size = 0;
    if (absl::SimpleAtoi(AbslView(value), &size) && size > 0) return size;
  }
  return std::nullopt;
}

absl::Status ReadSharding(const Measurement& row, int32_t unsaid_zero, Layout& layout) {
  const int64_t zero = row.zero_stage.value_or(NamesFsdp(row.schedule) ? 3 : unsaid_zero);
  RETURN_IF_ERROR(CheckRange("zero_stage", zero, 0, 3));
  const bool sharded = GroupSize(GroupRole::kReplicas, layout) > 1;
  layout.zero = sharded ? static_cast<int32_t>(zero) : 0;
  OptionalInt group = row.hs;
  if (!group) group = NotedZero1Size(row.notes);
  if (!group && NamesHsdp(row.schedule)) group = row.gpus_per_node;  // HSDP's usual group
  if (layout.zero > 0 && group && *group < GroupSize(GroupRole::kReplicas, layout)) {
    // Groups of one rank divide nothing.
    *group == 1 ? layout.zero = 0 : layout.shard_ranks = static_cast<int32_t>(*group);
  }
  const auto sequence = MeaningOfSwitch(row.seq_parallel);
  if (!sequence) return FieldError("seq_parallel", row.seq_parallel, "must be 0 or 1");
  layout.sequence_parallel = *sequence && layout.tp > 1;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> DevicesOf(const Measurement& row) {
  if (row.gpus) {
    ASSIGN_OR_RETURN(const int32_t gpus, Size("gpus", row.gpus, kMaxDevices));
    return gpus;
  }
  if (!row.dp) return Empty("gpus");
  Layout layout;
  RETURN_IF_ERROR(ReadAxes(row, layout));
  return layout.devices();
}

absl::StatusOr<int64_t> LeastGlobalBatch(const Measurement& row) {
  Layout layout;
  RETURN_IF_ERROR(ReadAxes(row, layout));
  ASSIGN_OR_RETURN(const int32_t micro_batch, Size("mbs", row.mbs.value_or(1), kMostRanks));
  return int64_t{layout.dp} * micro_batch;
}

absl::StatusOr<Layout> LayoutOf(const Measurement& row, const ModelSpec& model,
                                int32_t unsaid_zero) {
  Layout layout;
  RETURN_IF_ERROR(ReadAxes(row, layout));
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  ASSIGN_OR_RETURN(layout.micro_batch, Size("mbs", row.mbs.value_or(1), kMax));
  ASSIGN_OR_RETURN(layout.vpp, Size("vpp", row.vpp.value_or(1), kMostRanks));
  RETURN_IF_ERROR(ReadSharding(row, unsaid_zero, layout));
  if (model.has_experts()) RETURN_IF_ERROR(ReadExperts(row, layout));
  RETURN_IF_ERROR(ReadRecompute(row, model, layout));
  RETURN_IF_ERROR(ReadKernels(row, layout));
  RETURN_IF_ERROR(ReadSchedule(row, model, layout));
  RETURN_IF_ERROR(ReadOwnTexts(row, layout));
  return layout;
}

absl::StatusOr<Precision> PrecisionOf(const Measurement& row) {
  const std::string text = absl::AsciiStrToLower(row.precision);
  const absl::StatusOr<Precision> named = ParsePrecision(text);
  if (named.ok()) return *named;
  constexpr std::pair<std::string_view, Precision> kRecipes[] = {
      {"fp4", Precision::kNvfp4},
      {"mxfp8", Precision::kMxfp8},
      {"fp8-mx", Precision::kMxfp8},
      {"fp8-cs", Precision::kFp8Current},
      {"float8", Precision::kFp8Current},
      {"fp8-sc", Precision::kFp8Blockwise},
      {"blockwise", Precision::kFp8Blockwise},
      {"fp8", Precision::kFp8Delayed}};
  for (const auto& [word, recipe] : kRecipes) {
    if (!Contains(text, word)) continue;
    // Sources that call a precision fp8 may name its scaling among their remarks.
    const bool current =
        recipe == Precision::kFp8Delayed && Contains(PlainWords(row.notes), "fp8 current scaling");
    return current ? Precision::kFp8Current : recipe;
  }
  if (text.empty()) return Precision::kBf16;
  for (const std::string_view half : {"bf16", "fp16", "mixed"}) {
    if (Contains(text, half)) return Precision::kBf16;
  }
  return FieldError("precision", row.precision,
                    "must be a --dtype: bf16, fp16, fp32, fp64, fp8-delayed, fp8-current, "
                    "fp8-blockwise, mxfp8 or nvfp4");
}

}  // namespace meshwright::planner
