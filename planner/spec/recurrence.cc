#include "planner/spec/recurrence.h"

#include <string>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kWidestRecurrence = int64_t{1} << 21;
constexpr int64_t kLongestConvolution = 1 << 10;
constexpr int64_t kLargestChunk = 1 << 16;

// The keys that files have for the sizes of each kind.
struct SizeKeys {
  const char* heads = "num_attention_heads";
  const char* key_heads = "";
  const char* key_dim = "head_dim";
  const char* value_dim = "head_dim";
  const char* conv_width = "";
};

SizeKeys KeysOf(RecurrenceKind kind) {
  switch (kind) {
    case RecurrenceKind::kGatedDelta:
      return {"linear_num_value_heads", "linear_num_key_heads", "linear_key_head_dim",
              "linear_value_head_dim", "linear_conv_kernel_dim"};
    case RecurrenceKind::kKimiDelta:
      return {"linear_num_heads", "", "linear_head_dim", "linear_head_dim",
              "linear_conv_kernel_dim"};
    case RecurrenceKind::kMamba2:
      return {"mamba_num_heads", "mamba_n_groups", "ssm_state_size", "mamba_head_dim",
              "conv_kernel"};
    case RecurrenceKind::kMamba1:
      return {"mamba_expand", "", "mamba_d_state", "mamba_expand", "mamba_d_conv"};
    case RecurrenceKind::kShortConvolution:
      return {.heads = "hidden_size", .conv_width = "conv_L_cache"};
    case RecurrenceKind::kRgLru:
      return {.value_dim = "lru_width", .conv_width = "conv1d_width"};
    case RecurrenceKind::kLightning:
    case RecurrenceKind::kNone:
      break;
  }
  return {};
}

bool HasKeys(RecurrenceKind kind) {
  return kind != RecurrenceKind::kShortConvolution && kind != RecurrenceKind::kRgLru;
}

}  // namespace

absl::Status Validate(const Recurrence& recurrence, int64_t hidden) {
  if (!recurrence.exists()) return absl::OkStatus();
  const SizeKeys keys = KeysOf(recurrence.kind);
  RETURN_IF_ERROR(CheckRange(keys.heads, recurrence.heads, 1, kWidestRecurrence));
  if (*keys.key_heads != '\0') {
    RETURN_IF_ERROR(CheckRange(keys.key_heads, recurrence.key_heads, 1, recurrence.heads));
    if (recurrence.heads % recurrence.key_heads != 0) {
      return FieldError(
          keys.key_heads, recurrence.key_heads,
          std::string("must divide ") + keys.heads + " = " + std::to_string(recurrence.heads));
    }
  }
  if (HasKeys(recurrence.kind)) {
    RETURN_IF_ERROR(
        CheckRange(keys.key_dim, recurrence.key_dim, 1, kWidestRecurrence / recurrence.heads));
  }
  RETURN_IF_ERROR(
      CheckRange(keys.value_dim, recurrence.value_dim, 1, kWidestRecurrence / recurrence.heads));
  if (*keys.conv_width != '\0') {
    RETURN_IF_ERROR(CheckRange(keys.conv_width, recurrence.conv_width, 1, kLongestConvolution));
  }
  RETURN_IF_ERROR(CheckRange("mamba_dt_rank", recurrence.gate_rank, 0, kWidestRecurrence));
  if (recurrence.kind == RecurrenceKind::kShortConvolution && recurrence.heads != hidden) {
    return FieldError("hidden_size", recurrence.heads,
                      "is the short convolution's width; must be the width of the model = " +
                          std::to_string(hidden));
  }
  return CheckRange("mamba_chunk_size", recurrence.chunk, 0, kLargestChunk);
}

}  // namespace meshwright::planner
