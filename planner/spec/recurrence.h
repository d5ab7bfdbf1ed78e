// Recurrence is a mixer of a layer's tokens whose state has a fixed size: linear attention, a
// state-space model, or a short convolution. A layer has a recurrence in place of attention, or
// both on the same input (Falcon-H1). The cost of a recurrence grows linearly with the length of a
// sequence.
//
// Parameters are counted as in transformers 5.24.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "base/text/enum_names.h"

namespace meshwright::planner {

enum class RecurrenceKind : uint8_t {
  kNone,
  kGatedDelta,        // gated delta net (Qwen3-Next; arXiv 2412.06464)
  kKimiDelta,         // Kimi delta attention, with a decay for each channel (arXiv 2510.26692)
  kMamba2,            // arXiv 2405.21060
  kMamba1,            // arXiv 2312.00752
  kLightning,         // lightning attention (MiniMax-01; arXiv 2501.08313)
  kShortConvolution,  // gated short convolution (LFM2)
  kRgLru,             // real-gated linear recurrent unit (RecurrentGemma; arXiv 2402.19427)
};
inline constexpr EnumNames<RecurrenceKind, 8> kRecurrenceKindNames = {{
    {RecurrenceKind::kNone, "none"},
    {RecurrenceKind::kGatedDelta, "gated_delta_net"},
    {RecurrenceKind::kKimiDelta, "kimi_delta_attention"},
    {RecurrenceKind::kMamba2, "mamba2"},
    {RecurrenceKind::kMamba1, "mamba1"},
    {RecurrenceKind::kLightning, "lightning_attention"},
    {RecurrenceKind::kShortConvolution, "short_convolution"},
    {RecurrenceKind::kRgLru, "rg_lru"},
}};

struct Recurrence {
  RecurrenceKind kind = RecurrenceKind::kNone;
  // The heads of values. Mamba-1 has a head for each of its channels. A short convolution has a
  // head for each element of the hidden state. An RG-LRU has a head for each block of its gates.
  int64_t heads = 0;
  // The heads of keys and queries of a gated delta net, or Mamba-2's groups. They divide `heads`.
  // 0 for other kinds.
  int64_t key_heads = 0;
  int64_t key_dim = 0;     // elements of a head's key; Mamba's state size
  int64_t value_dim = 0;   // elements of a head's values; 1 for Mamba-1 and short convolutions
  int64_t conv_width = 0;  // tokens that the convolution before the core sees; 0 if there is none
  // The width of Mamba-1's step size, or of the latent from which Kimi's gates are projected; 0 if
  // the gates are projected from the hidden state (Ling 3).
  int64_t gate_rank = 0;
  int64_t chunk = 0;         // tokens that a kernel works on as one; 0 for kernels without chunks
  bool output_norm = true;   // Mamba-2: the product is normalised (`mamba_rms_norm`)
  bool inner_norms = false;  // Mamba-1: step size, input and output matrices are normalised (Jamba)
  bool projection_bias = false;  // whether Mamba's first and last projection have biases

  bool exists() const { return kind != RecurrenceKind::kNone; }
  int64_t keys_width() const { return key_heads * key_dim; }
  int64_t inner_width() const { return heads * value_dim; }  // width of the last projection's input

  friend bool operator==(const Recurrence&, const Recurrence&) = default;
};

// Returns InvalidArgument, with the key of a config.json, its value and what is accepted, if a size
// is out of range. `hidden` is the width of the hidden state.
absl::Status Validate(const Recurrence& recurrence, int64_t hidden);

}  // namespace meshwright::planner
