// Layout says how a model is laid out over devices for one training step. It is one point of the
// search space.
//
// Its text form is tp4.cp1.pp2.dp8.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b. The text also contains
// every other key of planner/layout/keys.h whose value is not the default.
#pragma once

#include <cstdint>
#include <optional>
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

// The largest number of ranks, chunks, sequences or layers in the text form, unless a key has
// limits of its own.
inline constexpr int32_t kMaxAxis = 1 << 20;

enum class ScheduleKind : uint8_t {
  kGpipe,
  k1f1b,
  kInterleaved,
  kBreadthFirst,
  kZbH1,
  kZbV,
  kZbH2,
  kVHalf,
  k1f1bVocab1,
  k1f1bVocab2,
  k1f1bInterlaced,
  kVHalfVocab1
};

inline constexpr EnumNames<ScheduleKind, 12> kScheduleNames = {{
    {ScheduleKind::kGpipe, "gpipe"},
    {ScheduleKind::k1f1b, "1f1b"},
    {ScheduleKind::kInterleaved, "interleaved"},
    {ScheduleKind::kBreadthFirst, "breadth_first"},
    {ScheduleKind::kZbH1, "zb_h1"},
    {ScheduleKind::kZbV, "zb_v"},
    {ScheduleKind::kZbH2, "zb_h2"},
    {ScheduleKind::kVHalf, "v_half"},
    {ScheduleKind::k1f1bVocab1, "1f1b_vocab1"},
    {ScheduleKind::k1f1bVocab2, "1f1b_vocab2"},
    {ScheduleKind::k1f1bInterlaced, "1f1b_interlaced"},
    {ScheduleKind::kVHalfVocab1, "v_half_vocab1"},
}};

struct Layout {
  int32_t tp = 1;  // ranks of tensor parallelism
  int32_t cp = 1;  // ranks of context parallelism
  int32_t pp = 1;  // pipeline ranks
  int32_t dp = 1;  // ranks of data parallelism
  // The tp * cp * dp ranks of a stage divide experts in their own way (parallel folding, arXiv
  // 2504.14960): ep ranks hold different experts, etp ranks share the matrices of each expert, and
  // tp * cp * dp / (ep * etp) ranks hold copies of the same part.
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
  // HSDP: ZeRO divides states inside groups of this many ranks, and the groups hold copies. 0: ZeRO
  // divides states over all dp * cp ranks.
  int32_t shard_ranks = 0;
  // Layers of each virtual stage. If this is empty, the framework distributes the layers
  // (StagePartition).
  StageSplit stages = {};
  Offload offload = {};

  int64_t devices() const;
  bool divides_experts() const { return ep > 1 || etp > 1; }
  // Returns the micro-batches of a step on a data-parallel rank. REQUIRES: global_batch % (dp *
  // micro_batch) == 0.
  int64_t MicroBatches(int64_t global_batch) const {
    return global_batch / (int64_t{dp} * micro_batch);
  }

  friend bool operator==(const Layout&, const Layout&) = default;
};

// Returns whether the schedule runs the input gradient and the weight gradient as separate actions.
inline bool HasWeightActions(ScheduleKind schedule) {
  return schedule == ScheduleKind::kZbH1 || schedule == ScheduleKind::kZbV ||
         schedule == ScheduleKind::kZbH2 || schedule == ScheduleKind::kVHalf ||
         schedule == ScheduleKind::kVHalfVocab1;
}

// Returns whether the stages lie in a V: each rank has two chunks, and the second chunks are in
// reverse order (planner/schedule/placement.h).
constexpr bool IsV(ScheduleKind schedule) {
  return schedule == ScheduleKind::kZbV || schedule == ScheduleKind::kVHalf ||
         schedule == ScheduleKind::kVHalfVocab1;
}

// Returns whether every pipeline rank holds an equal part of the embedding and of the head
// (vocabulary parallelism, arXiv 2411.05288). The head of a micro-batch then runs on all ranks, in
// actions of its own.
constexpr bool DividesVocabulary(ScheduleKind schedule) {
  return schedule == ScheduleKind::k1f1bVocab1 || schedule == ScheduleKind::k1f1bVocab2 ||
         schedule == ScheduleKind::k1f1bInterlaced || schedule == ScheduleKind::kVHalfVocab1;
}

// Returns whether the schedule is GPipe, 1F1B, or interleaved 1F1B, the usual choice for several
// chunks.
constexpr bool IsPlain(ScheduleKind schedule) {
  return schedule == ScheduleKind::kGpipe || schedule == ScheduleKind::k1f1b ||
         schedule == ScheduleKind::kInterleaved;
}

std::string_view ScheduleName(ScheduleKind schedule);
std::string FormatLayout(const Layout& layout);

// Returns the value of rc=: "none", "block:4", "layernorm+mla_up_proj".
std::string FormatRecompute(const Layout& layout);
// Sets what the layout recomputes from a value of rc=. Returns InvalidArgument, which says what
// would be accepted, if the value is wrong.
absl::Status ParseRecompute(std::string_view value, Layout& layout);

// Returns the text form, such as "tp2.pp8.dp16.zero1", without every key whose value ParseLayout()
// takes if the key is missing. Parsing the text gives the same layout. A layout of one device is
// "dp1".
std::string ShortLayout(const Layout& layout);

// Returns the layout of a text form, whose keys may be in any order. A missing key has its default;
// a missing schedule is interleaved if vpp > 1. Returns InvalidArgument if a part is wrong, or if
// the text has none of tp, pp and dp. The message names the part and what would be accepted.
absl::StatusOr<Layout> ParseLayout(std::string_view text);
// Does the same for a known number of devices. A missing dp is this number divided by the product
// of the other axes, if that product divides it.
absl::StatusOr<Layout> ParseLayoutOn(std::string_view text, std::optional<int64_t> devices);

}  // namespace meshwright::planner
