// One point of the search space: how a model is laid out over devices for one training step.
//
// Text form: tp4.cp1.pp2.dp8.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b, with the other keys of
// planner/layout/keys.h where they do not have their default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "planner/layout/offload.h"
#include "planner/layout/recompute.h"
#include "planner/layout/stage_split.h"
#include "planner/spec/kernels.h"

namespace meshwright::planner {

// The axes that a layout divides its devices over, in the order of the text form.
enum class Axis : uint8_t { kTp, kCp, kPp, kDp };

// The most ranks, chunks, sequences or layers that the text form gives, unless a key says
// otherwise.
inline constexpr int32_t kMaxAxis = 1 << 20;

enum class ScheduleKind : uint8_t { kGpipe, k1f1b, kInterleaved, kBreadthFirst, kZbH1, kZbV };

inline constexpr EnumNames<ScheduleKind, 6> kScheduleNames = {{
    {ScheduleKind::kGpipe, "gpipe"},
    {ScheduleKind::k1f1b, "1f1b"},
    {ScheduleKind::kInterleaved, "interleaved"},
    {ScheduleKind::kBreadthFirst, "breadth_first"},
    {ScheduleKind::kZbH1, "zb_h1"},
    {ScheduleKind::kZbV, "zb_v"},
}};

struct Layout {
  int32_t tp = 1;  // tensor parallel ranks
  int32_t cp = 1;  // context parallel ranks
  int32_t pp = 1;  // pipeline ranks
  int32_t dp = 1;  // data parallel ranks
  // Experts are divided over the tp * cp * dp ranks of a stage in a way of their own (parallel
  // folding, arXiv 2504.14960): ep ranks hold different experts, etp of them a part of each, and
  // tp * cp * dp / (ep * etp) copies of it.
  int32_t ep = 1;
  int32_t etp = 1;
  int32_t micro_batch = 1;  // sequences per micro-batch and data-parallel rank
  int32_t vpp = 1;          // chunks per pipeline rank
  int32_t zero = 0;         // ZeRO stage 0-3; 1 = distributed optimizer, 3 = FSDP
  bool sequence_parallel = false;
  Recompute recompute = Recompute::kNone;
  int32_t recompute_layers = 0;             // only for kBlock: layers recomputed per chunk
  RecomputeModules recompute_modules = {};  // only for kModules
  ScheduleKind schedule = ScheduleKind::k1f1b;
  AttentionKernel attention = AttentionKernel::kDefault;
  NormKernel norm = NormKernel::kDefault;
  // HSDP: ZeRO divides states inside groups of so many ranks, which hold copies of each other's
  // shards; 0: over all dp * cp ranks.
  int32_t shard_ranks = 0;
  // Layers of each virtual stage; empty: as the framework spreads them (StagePartition).
  StageSplit stages = {};
  Offload offload = {};

  int64_t devices() const;
  bool divides_experts() const { return ep > 1 || etp > 1; }
  // Micro-batches per step and data-parallel rank. Requires global_batch % (dp * micro_batch) == 0.
  int64_t MicroBatches(int64_t global_batch) const {
    return global_batch / (int64_t{dp} * micro_batch);
  }

  friend bool operator==(const Layout&, const Layout&) = default;
};

// Whether the backward's input and weight gradients are actions of their own.
inline bool HasWeightActions(ScheduleKind schedule) {
  return schedule == ScheduleKind::kZbH1 || schedule == ScheduleKind::kZbV;
}

// 1F1B or GPipe, or the interleaved one that chunks ask for.
constexpr bool IsPlain(ScheduleKind schedule) {
  return schedule == ScheduleKind::kGpipe || schedule == ScheduleKind::k1f1b ||
         schedule == ScheduleKind::kInterleaved;
}

std::string_view ScheduleName(ScheduleKind schedule);
std::string FormatLayout(const Layout& layout);

// The value of rc= alone: "none", "block:4", "layernorm+mla_up_proj".
std::string FormatRecompute(const Layout& layout);
// Sets what the layout recomputes. InvalidArgument says what would be accepted.
absl::Status ParseRecompute(std::string_view value, Layout& layout);

// Reads the text form, keys in any order. Where a key is not there it has its default, the schedule
// interleaved where vpp > 1. InvalidArgument names the part that is wrong or the needed key that is
// missing, and what would be accepted.
absl::StatusOr<Layout> ParseLayout(std::string_view text);

}  // namespace meshwright::planner
