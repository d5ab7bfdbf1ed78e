#include "planner/catalog/recurrence_config.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"

namespace meshwright::planner {
namespace {

// The tokens per chunk of a recurrent kernel if the file does not state them: the values of
// flash-linear-attention, of mamba-ssm, and of MiniMax's code.
constexpr int64_t kDeltaChunk = 64;
constexpr int64_t kScanChunk = 256;
constexpr int64_t kLightningBlock = 256;

constexpr int64_t kMostExpansion = 1 << 10;
constexpr int64_t kWidestHidden = int64_t{1} << 21;  // wider ones are refused with the model
constexpr int64_t kHiddenPerStepRank = 16;           // of Mamba-1's step size

using Names = std::initializer_list<const char*>;

// Families have different names for the same size. Returns the name that the file has.
const char* NameIn(const JsonFields& fields, Names names) {
  for (const char* name : names) {
    if (fields.Has(name)) return name;
  }
  return *names.begin();
}

int64_t Size(JsonFields& fields, Names names) { return fields.Int(NameIn(fields, names)); }

int64_t SizeOr(JsonFields& fields, Names names, int64_t fallback) {
  return fields.IntOr(NameIn(fields, names), fallback);
}

// Returns the width of one of `count` equal parts.
int64_t PartOf(JsonFields& fields, const char* width_name, int64_t width, const char* count_name,
               int64_t count) {
  if (count < 1) return 0;  // the range of `count` is checked with the model
  if (width % count != 0) {
    fields.Fail(FieldError(width_name, width,
                           absl::StrCat("must be a multiple of ", count_name, " = ", count)));
  }
  return width / count;
}

// Returns the inner width of a Mamba layer whose file has no other key for it.
int64_t Expanded(JsonFields& fields, int64_t hidden) {
  const char* name = NameIn(fields, {"mamba_expand", "expand"});
  const int64_t times = fields.IntOr(name, 2);
  fields.Fail(CheckRange(name, times, 1, kMostExpansion));
  return std::clamp<int64_t>(times, 0, kMostExpansion) * hidden;
}

Recurrence ReadGatedDelta(JsonFields& fields) {
  return {.heads = fields.Int("linear_num_value_heads"),
          .key_heads = fields.Int("linear_num_key_heads"),
          .key_dim = fields.Int("linear_key_head_dim"),
          .value_dim = fields.Int("linear_value_head_dim"),
          .conv_width = fields.IntOr("linear_conv_kernel_dim", 4),
          .chunk = kDeltaChunk};
}

Recurrence ReadKimiDelta(JsonFields& fields, const Architecture& architecture) {
  const int64_t head_dim = fields.Int("linear_head_dim");
  return {.heads = fields.Int("linear_num_heads"),
          .key_dim = head_dim,
          .value_dim = head_dim,
          .conv_width = fields.IntOr("linear_conv_kernel_dim", 4),
          .gate_rank = architecture.ranked_gates ? head_dim : 0,
          .chunk = kDeltaChunk};
}

// The inner width need not be a multiple of the hidden width: heads and their size say it, or
// Falcon-H1's `mamba_d_ssm`.
Recurrence ReadMamba2(JsonFields& fields, const Architecture& architecture, int64_t hidden) {
  Recurrence read;
  const char* heads_name = NameIn(fields, {"mamba_num_heads", "mamba_n_heads", "n_mamba_heads"});
  read.heads = fields.Int(heads_name);
  read.key_heads = SizeOr(fields, {"mamba_n_groups", "mamba_ngroups", "n_groups"}, 1);
  read.key_dim = Size(fields, {"ssm_state_size", "mamba_d_state", "state_size"});
  const auto inner = fields.OptionalInt("mamba_d_ssm");
  const char* dim_name = NameIn(fields, {"mamba_head_dim", "mamba_d_head", "mamba_headdim"});
  const int64_t expanded = Expanded(fields, hidden);
  if (inner) {
    read.value_dim = PartOf(fields, "mamba_d_ssm", *inner, heads_name, read.heads);
  } else if (fields.Has(dim_name)) {
    read.value_dim = fields.Int(dim_name);
  } else {
    read.value_dim = PartOf(fields, "mamba_expand", expanded, heads_name, read.heads);
  }
  read.conv_width = SizeOr(fields, {"conv_kernel", "mamba_d_conv"}, 4);
  read.chunk = SizeOr(fields, {"mamba_chunk_size", "chunk_size"}, kScanChunk);
  read.output_norm = fields.BoolOr("mamba_rms_norm", true);
  read.projection_bias = architecture.projection_bias;
  return read;
}

Recurrence ReadMamba1(JsonFields& fields, const Architecture& architecture, int64_t hidden) {
  Recurrence read;
  const bool has_width = architecture.ffn == FfnKind::kNone && fields.Has("intermediate_size");
  const int64_t expanded = Expanded(fields, hidden);
  read.heads = has_width ? fields.Int("intermediate_size") : expanded;
  read.key_dim = Size(fields, {"mamba_d_state", "state_size", "ssm_state_size"});
  read.value_dim = 1;
  read.conv_width = SizeOr(fields, {"mamba_d_conv", "conv_kernel"}, 4);
  read.gate_rank = SizeOr(fields, {"mamba_dt_rank", "time_step_rank"},
                          (hidden + kHiddenPerStepRank - 1) / kHiddenPerStepRank);
  read.inner_norms = architecture.inner_norms;
  read.projection_bias = architecture.projection_bias;
  return read;
}

Recurrence ReadLightning(JsonFields& fields, int64_t hidden) {
  const int64_t heads = fields.Int("num_attention_heads");
  const auto given = fields.OptionalInt("head_dim");
  const int64_t head_dim =
      given ? *given : PartOf(fields, "hidden_size", hidden, "num_attention_heads", heads);
  return {.heads = heads,
          .key_dim = head_dim,
          .value_dim = head_dim,
          .chunk = fields.IntOr("block_size", kLightningBlock)};
}

// Each block of its gates is one of the attention's heads wide.
Recurrence ReadRgLru(JsonFields& fields, int64_t hidden) {
  const int64_t heads = fields.Int("num_attention_heads");
  const int64_t width = fields.IntOr("lru_width", hidden);
  return {.heads = heads,
          .value_dim = PartOf(fields, "lru_width", width, "num_attention_heads", heads),
          .conv_width = fields.IntOr("conv1d_width", 4)};
}

Recurrence ReadSizes(JsonFields& fields, const Architecture& architecture, int64_t hidden) {
  switch (architecture.recurrence) {
    case RecurrenceKind::kGatedDelta:
      return ReadGatedDelta(fields);
    case RecurrenceKind::kKimiDelta:
      return ReadKimiDelta(fields, architecture);
    case RecurrenceKind::kMamba2:
      return ReadMamba2(fields, architecture, hidden);
    case RecurrenceKind::kMamba1:
      return ReadMamba1(fields, architecture, hidden);
    case RecurrenceKind::kLightning:
      return ReadLightning(fields, hidden);
    case RecurrenceKind::kShortConvolution:
      return {.heads = hidden, .value_dim = 1, .conv_width = fields.Int("conv_L_cache")};
    case RecurrenceKind::kRgLru:
      return ReadRgLru(fields, hidden);
    case RecurrenceKind::kNone:
      break;
  }
  return {};
}

}  // namespace

Recurrence ReadRecurrence(JsonFields& fields, const Architecture& architecture, int64_t hidden) {
  const int64_t width = std::clamp<int64_t>(hidden, 0, kWidestHidden);
  Recurrence read = ReadSizes(fields, architecture, width);
  read.kind = architecture.recurrence;
  return read;
}

}  // namespace meshwright::planner
