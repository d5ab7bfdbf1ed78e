// ExpertRouting describes which experts a micro-batch's tokens go to, and the order of their rows
// at each stage of the exchange.
//
// A slot is one of the top_k experts of a token in this rank's share of the residual stream; a
// token's slots are adjacent. Sent rows are the slots sorted by expert, and so by the rank that
// holds it. A rank of the EP group receives rows in order of their senders; the ranks of its expert
// tensor parallelism concatenate what each received, padded to the longest; expert rows are these
// sorted by expert.
//
// Where experts have a capacity (planner::Experts::capacity), a sequence's slots beyond that
// number, in order of position, are dropped for that expert: they have no row and contribute 0.
// What a sequence drops depends neither on other sequences nor on the layout.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/state/rank_context.h"
#include "planner/spec/model_spec.h"

namespace meshwright::worker {

struct ExpertRouting {
  // Tensors, int32.
  at::Tensor picked;        // [stream tokens, top_k]: the slot's expert
  at::Tensor row_of_slot;   // [stream tokens, top_k]: the slot's sent row, -1 if dropped
  at::Tensor slot_of_row;   // [sent rows]
  at::Tensor place_of_row;  // [expert rows]: index in the concatenated rows; only if rows move

  // [sequences, experts], accumulator dtype: slots including dropped ones; only under a balance
  // loss.
  at::Tensor slots_of_sequences;

  // On the host: slots of this rank's tokens per expert of the layer, including dropped ones.
  std::vector<int64_t> slots_of_experts;

  // Numbers of rows, on the host.
  std::vector<int64_t> sent;         // to each rank of the EP group
  std::vector<int64_t> received;     // from each rank of the EP group
  int64_t padded = 0;                // contributed by each rank of expert tensor parallelism
  std::vector<int64_t> expert_rows;  // of each of this rank's experts

  int64_t sent_rows() const { return slot_of_row.size(0); }
  int64_t received_rows() const;
  int64_t rows() const;  // of all of this rank's experts
  // Releases the tensors but keeps the numbers.
  void ReleaseLists();
};

// Returns the experts of a run with forced balance (planner::Routing::kBalanced): [stream tokens,
// top_k].
at::Tensor BalancedExperts(const RankContext& context, const planner::Experts& experts);

// Exchanges row counts with the other ranks, and which of a sequence's slots come first. REQUIRES:
// `picked` is complete on the device.
ExpertRouting MakeRouting(RankContext& context, const planner::Experts& experts, at::Tensor picked);

// Moves rows [sent rows, width] to their experts: [expert rows, width] in the order of this rank's
// experts. Both directions release their argument.
at::Tensor ToExperts(RankContext& context, const ExpertRouting& routing, at::Tensor rows);
// The way back. Sums each row over the ranks of expert tensor parallelism.
at::Tensor FromExperts(RankContext& context, const ExpertRouting& routing, at::Tensor rows);

}  // namespace meshwright::worker
