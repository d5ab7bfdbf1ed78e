#include "planner/block/recurrence_widths.h"

#include <algorithm>

namespace meshwright::planner {
namespace {

double Real(int64_t value) { return static_cast<double>(value); }

// RankSizes on one rank: keys and values of all its heads.
struct RankSizes {
  int64_t heads = 0;
  int64_t keys = 0;    // K: key heads times their elements
  int64_t values = 0;  // U: value heads times their elements
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  int64_t conv = 0;
  int64_t chunk = 0;
};

// Returns bytes a token of the states of all chunks: one state of [keys, values] a head and chunk.
int64_t ChunkStateBytes(const RankSizes& s, int64_t heads, int64_t bytes) {
  return s.chunk > 0 ? bytes * heads * s.key_dim * s.value_dim / s.chunk : 0;
}

// The delta rule by chunks of C tokens: 2 n_v (3 d_k d_v + C (3 d_k + 2 d_v) + C^2 / 3) FLOPs.
double DeltaFlops(const RankSizes& s) {
  const double chunk = Real(s.chunk);
  return 2.0 * Real(s.heads) *
         (3.0 * Real(s.key_dim * s.value_dim) +
          chunk * (3.0 * Real(s.key_dim) + 2.0 * Real(s.value_dim)) + chunk * chunk / 3.0);
}

void SetDeltaCore(const RankSizes& s, RecurrenceWidths& widths) {
  const double convolution = 2.0 * Real(s.conv * widths.convolution);
  widths.core_flops = DeltaFlops(s) + convolution;
  widths.counted_flops = 8.0 * Real(s.heads * s.value_dim * s.value_dim) + convolution;
  widths.convolution_traffic_bytes =
      4.0 * Real(widths.convolution) + 8.0 * Real(s.heads * s.key_dim);
  widths.core_traffic_bytes =
      2.0 * Real(s.heads) * (8.0 * Real(s.key_dim) + 7.0 * Real(s.value_dim)) +
      Real(ChunkStateBytes(s, s.heads, 4));
  widths.norm_traffic_bytes = 6.0 * Real(s.values);
  widths.output_bytes = 2 * s.values + 4 * s.heads;
  widths.product_bytes = 2 * s.values;
  widths.working_bytes =
      ChunkStateBytes(s, s.heads, 2) + 2 * s.heads * (s.key_dim + 2 * s.value_dim);
  widths.inner = s.values;
}

RecurrenceWidths GatedDelta(const RankSizes& s) {
  RecurrenceWidths widths;
  widths.input = 2 * s.keys + 2 * s.values + 2 * s.heads;
  widths.convolution = 2 * s.keys + s.values;
  widths.exchanged_in = widths.input;
  widths.exchanged_out = s.values;
  SetDeltaCore(s, widths);
  widths.input_bytes = 2 * widths.convolution + 2 * s.values;
  widths.states_bytes =
      4 * s.heads * s.key_dim + 2 * s.values + 4 * s.heads + 2 * s.heads + 2 * s.chunk * s.heads;
  return widths;
}

// Its decay has a value for each channel.
RecurrenceWidths KimiDelta(const RankSizes& s, int64_t gate_rank) {
  const int64_t q = s.values;
  RecurrenceWidths widths;
  widths.input = 3 * q + s.heads + (gate_rank == 0 ? 2 * q : 0);
  widths.whole_input = 2 * gate_rank;
  widths.gates = gate_rank == 0 ? 0 : 2 * q;
  widths.gate_inputs = gate_rank;
  widths.convolution = 3 * q;
  widths.exchanged_in = 5 * q + s.heads;
  widths.exchanged_out = q;
  SetDeltaCore(s, widths);
  widths.input_bytes = 2 * widths.convolution + 2 * q + 4 * gate_rank;
  widths.states_bytes = 6 * q + 4 * q + 2 * s.heads + 4 * s.chunk * s.heads;
  widths.output_bytes = 2 * q;
  return widths;
}

// The fused function of mamba-ssm, which makes convolution, step sizes and states again.
RecurrenceWidths Mamba2(const RankSizes& s, int64_t hidden, int64_t ranks, bool normalises) {
  RecurrenceWidths widths;
  const int64_t states = s.key_dim;
  widths.convolution = s.values + 2 * s.keys;
  widths.input = s.values + widths.convolution + s.heads;
  widths.inner = s.values;
  widths.exchanged_in = widths.input;
  widths.exchanged_out = s.values;
  const double convolution = 2.0 * Real(s.conv * widths.convolution);
  widths.core_flops =
      Real(s.chunk) * Real(s.keys + s.values) + 4.0 * Real(s.values * states) + convolution;
  widths.counted_flops = 7.0 * 2.0 * Real(hidden / ranks) * Real(states);
  const int64_t state_bytes = s.chunk > 0 ? 4 * s.values * states / s.chunk : 0;
  widths.convolution_traffic_bytes = 4.0 * Real(widths.convolution);
  widths.core_traffic_bytes = 2.0 * Real(3 * s.values + 2 * s.keys) + 2.0 * Real(state_bytes);
  widths.norm_traffic_bytes = normalises ? 6.0 * Real(s.values) : 0.0;
  widths.input_bytes = 2 * widths.input;
  widths.output_bytes = 2 * s.values + (normalises ? 4 : 0);
  widths.product_bytes = 2 * s.values;
  widths.working_bytes = 3 * state_bytes;
  return widths;
}

RecurrenceWidths Mamba1(const RankSizes& s, int64_t step_rank, bool inner_norms) {
  constexpr int64_t kScanTokens = 2048;
  RecurrenceWidths widths;
  const int64_t channels = s.values;
  const int64_t states = s.key_dim;
  widths.input = 2 * channels;
  widths.convolution = channels;
  widths.states = step_rank + 2 * states;
  widths.gates = channels;
  widths.gate_inputs = step_rank;
  widths.inner = channels;
  widths.exchanged_in = 2 * channels;
  widths.exchanged_out = channels;
  widths.core_flops =
      9.0 * Real(channels * states) + Real(channels) + 2.0 * Real(s.conv * channels);
  widths.convolution_traffic_bytes = 4.0 * Real(channels);
  widths.core_traffic_bytes = 2.0 * Real(4 * channels + 2 * states);
  widths.input_bytes = 4 * channels;
  widths.states_bytes =
      2 * widths.states + 8 * channels * states / kScanTokens + (inner_norms ? 4 * channels : 0);
  widths.output_bytes = 0;
  widths.product_bytes = 2 * channels;
  return widths;
}

RecurrenceWidths Lightning(const RankSizes& s) {
  RecurrenceWidths widths;
  const int64_t q = s.values;
  widths.input = 4 * q;
  widths.inner = q;
  widths.exchanged_in = 4 * q;
  widths.exchanged_out = q;
  widths.core_flops =
      2.0 * Real(s.heads) * (Real(s.chunk * s.value_dim) + 2.0 * Real(s.value_dim * s.value_dim));
  const int64_t state_bytes = ChunkStateBytes(s, s.heads, 4);
  widths.core_traffic_bytes = 2.0 * 4.0 * Real(q) + 12.0 * Real(q) + 2.0 * Real(state_bytes);
  widths.norm_traffic_bytes = 6.0 * Real(q);
  widths.input_bytes = 6 * q + 2 * q;
  widths.states_bytes = 6 * q + state_bytes;
  widths.output_bytes = 2 * q;
  widths.product_bytes = 2 * q;
  widths.working_bytes = state_bytes;
  return widths;
}

RecurrenceWidths ShortConvolution(const RankSizes& s) {
  RecurrenceWidths widths;
  const int64_t h = s.values;
  widths.input = 3 * h;
  widths.convolution = h;
  widths.inner = h;
  widths.core_flops = 2.0 * Real(s.conv * h) + 2.0 * Real(h);
  widths.core_traffic_bytes = 16.0 * Real(h);
  widths.input_bytes = 6 * h;
  widths.states_bytes = 2 * h;
  widths.output_bytes = 2 * h;
  widths.product_bytes = 2 * h;
  return widths;
}

RecurrenceWidths RgLru(const RankSizes& s) {
  RecurrenceWidths widths;
  const int64_t w = s.values;
  widths.input = 2 * w;
  widths.convolution = w;
  widths.gates = 2 * w;
  widths.gate_inputs = s.value_dim;
  widths.inner = w;
  widths.exchanged_in = 2 * w;
  widths.exchanged_out = w;
  widths.core_flops = 2.0 * Real(s.conv * w) + 8.0 * Real(w);
  widths.convolution_traffic_bytes = 4.0 * Real(w);
  widths.core_traffic_bytes = 22.0 * Real(w);
  widths.input_bytes = 4 * w;
  widths.states_bytes = 2 * w + 4 * w + 8 * w + 4 * w;
  widths.product_bytes = 2 * w;
  return widths;
}

}  // namespace

RecurrenceWidths WidthsOf(const Recurrence& r, int64_t hidden, int64_t ranks) {
  const RankSizes sizes = {.heads = r.heads / ranks,
                           .keys = r.keys_width() / ranks,
                           .values = r.inner_width() / ranks,
                           .key_dim = r.key_dim,
                           .value_dim = r.value_dim,
                           .conv = r.conv_width,
                           .chunk = r.chunk};
  switch (r.kind) {
    case RecurrenceKind::kGatedDelta:
      return GatedDelta(sizes);
    case RecurrenceKind::kKimiDelta:
      return KimiDelta(sizes, r.gate_rank);
    case RecurrenceKind::kMamba2:
      return Mamba2(sizes, hidden, ranks, r.output_norm);
    case RecurrenceKind::kMamba1:
      return Mamba1(sizes, r.gate_rank, r.inner_norms);
    case RecurrenceKind::kLightning:
      return Lightning(sizes);
    case RecurrenceKind::kShortConvolution:
      return ShortConvolution(sizes);
    case RecurrenceKind::kRgLru:
      return RgLru(sizes);
    case RecurrenceKind::kNone:
      break;
  }
  return {};
}

}  // namespace meshwright::planner
