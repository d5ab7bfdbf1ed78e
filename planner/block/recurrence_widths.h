// RecurrenceWidths holds the widths of a recurrence's projections, the FLOPs of its core, and the
// bytes that it keeps. All figures are for one token and the heads of one of `ranks` ranks.
#pragma once

#include <cstdint>

#include "planner/spec/recurrence.h"

namespace meshwright::planner {

struct RecurrenceWidths {
  int64_t input = 0;  // outputs of the first projection that are divided over the ranks
  // Outputs of the first projection that every rank computes whole: the latents of Kimi's gates.
  int64_t whole_input = 0;
  int64_t convolution = 0;  // channels of the convolution; 0 if there is none
  int64_t states = 0;       // outputs of Mamba-1's second projection, which every rank has
  // Outputs and inputs of the gates' own projection; 0 if the first projection makes the gates.
  int64_t gates = 0;
  int64_t gate_inputs = 0;
  int64_t inner = 0;  // inputs of the last projection
  // Elements of the all-to-alls with which context-parallel ranks exchange a division by tokens for
  // a division by heads: the core's inputs before the core, and the core's outputs after it.
  int64_t exchanged_in = 0;
  int64_t exchanged_out = 0;

  // FLOPs of the forward of the core and the convolution in chunked kernels.
  double core_flops = 0.0;
  // The same FLOPs as Megatron-LM counts them (core/ssm; Megatron-Bridge's counter); 0 for kinds of
  // recurrence that Megatron-LM lacks.
  double counted_flops = 0.0;

  // Kept bytes, at 2 bytes per element of an activation.
  int64_t input_bytes = 0;    // the convolution's input and the output gate
  int64_t states_bytes = 0;   // queries, keys, values, decays and states that the core reads
  int64_t output_bytes = 0;   // the core's result, with the deviation that its norm computes
  int64_t product_bytes = 0;  // input of the last projection
  int64_t working_bytes = 0;  // bytes of states that the backward holds while it runs

  // Device-memory traffic of the forward in bytes.
  double convolution_traffic_bytes = 0.0;
  double core_traffic_bytes = 0.0;
  double norm_traffic_bytes = 0.0;
};

// Returns the widths of one of `ranks` ranks. If `ranks` does not divide a size, the result is
// rounded down. Kept tensors are those that the kernels of flash-linear-attention and mamba-ssm
// keep.
RecurrenceWidths WidthsOf(const Recurrence& recurrence, int64_t hidden, int64_t ranks);

}  // namespace meshwright::planner
