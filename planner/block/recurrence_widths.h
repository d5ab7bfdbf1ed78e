// RecurrenceWidths holds the widths of a recurrence's projections, its core's FLOPs and what it
// keeps, for one token and the part of the heads that one of `ranks` ranks has.
#pragma once

#include <cstdint>

#include "planner/spec/recurrence.h"

namespace meshwright::planner {

struct RecurrenceWidths {
  int64_t input = 0;        // outputs of the first projection that tensor parallelism divides
  int64_t whole_input = 0;  // its outputs that every rank has: the latents of Kimi's gates
  int64_t convolution = 0;  // channels of the convolution; 0 if there is none
  int64_t states = 0;       // outputs of Mamba-1's second projection, which every rank has
  // Outputs and inputs of the gates' own projection; 0 if the first one makes the gates.
  int64_t gates = 0;
  int64_t gate_inputs = 0;
  int64_t inner = 0;  // inputs of the last projection
  // Elements that its first and last projections exchange for other heads' under context
  // parallelism: what the core reads, and what it writes.
  int64_t exchanged_in = 0;
  int64_t exchanged_out = 0;

  // FLOPs of the forward of the core and the convolution, as chunked kernels compute it.
  double core_flops = 0.0;
  // The same as Megatron-LM counts it (core/ssm; Megatron-Bridge's counter). It is 0 for kinds that
  // Megatron-LM has not.
  double counted_flops = 0.0;

  // Kept bytes at 2 bytes for each element of an activation, by what they are for.
  int64_t input_bytes = 0;    // the convolution's input and the output gate
  int64_t states_bytes = 0;   // queries, keys, values, decays and states, as the core reads them
  int64_t output_bytes = 0;   // the core's result, with its deviation
  int64_t product_bytes = 0;  // input of the last projection
  int64_t working_bytes = 0;  // states that the backward holds while it runs

  // Traffic of device memory in bytes, forward.
  double convolution_traffic_bytes = 0.0;
  double core_traffic_bytes = 0.0;
  double norm_traffic_bytes = 0.0;
};

// Returns the widths of one of `ranks` ranks. For sizes that `ranks` does not divide the result is
// rounded down. Kept tensors are those of the kernels of flash-linear-attention and mamba-ssm.
RecurrenceWidths WidthsOf(const Recurrence& recurrence, int64_t hidden, int64_t ranks);

}  // namespace meshwright::planner
