// ExpertRouting describes which experts a micro-batch's tokens go to, and the order of the tokens'
// rows at each stage of the exchange.
//
// A slot is one of the top_k experts of a token in this rank's share of the residual stream; a
// token's slots are adjacent. Sent rows are the slots sorted by expert, and thereby by the rank
// that holds the expert. A rank of the EP group receives rows in order of their senders. The ranks
// of an expert tensor parallel group concatenate the rows that each of them received, padded to the
// largest number. Expert rows are the concatenated rows without padding, sorted by expert.
//
// If experts have a capacity (planner::Experts::capacity), an expert takes only this many slots of
// a sequence, the first ones by position. The other slots are dropped: they have no row and
// contribute 0. Which slots of a sequence are dropped depends neither on other sequences nor on the
// layout.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/state/rank_context.h"
#include "planner/spec/model_spec.h"

namespace meshwright::worker {

struct ExpertRouting {
  // These tensors are int32.
  at::Tensor picked;       // [stream tokens, top_k]: the slot's expert
  at::Tensor row_of_slot;  // [stream tokens, top_k]: the slot's sent row, -1 if dropped
  at::Tensor slot_of_row;  // [sent rows]
  // [expert rows]: index in the concatenated rows. Set only if rows move between ranks
  // (ep * etp > 1).
  at::Tensor place_of_row;

  // [sequences, experts], accumulator dtype: numbers of slots, including dropped ones. Set only if
  // there is a balance loss.
  at::Tensor slots_of_sequences;

  // On the host: how many slots of this rank's tokens go to each expert, including dropped ones.
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

// Returns the experts [stream tokens, top_k] of a run whose routing is forced to be balanced
// (planner::Routing::kBalanced).
at::Tensor BalancedExperts(const RankContext& context, const planner::Experts& experts);

// Returns the routing to the experts `picked`. Exchanges row counts with the other ranks and, if
// there is a capacity or a balance loss, counts of the sequences' slots. REQUIRES: `picked` is
// complete on the device.
ExpertRouting MakeRouting(RankContext& context, const planner::Experts& experts, at::Tensor picked);

// Moves rows [sent rows, width] to their experts. Returns [expert rows, width], in the order of
// this rank's experts. Releases `rows`.
at::Tensor ToExperts(RankContext& context, const ExpertRouting& routing, at::Tensor rows);
// Moves rows [expert rows, width] back and returns [sent rows, width]. Sums each row over the ranks
// of expert tensor parallelism. Releases `rows`.
at::Tensor FromExperts(RankContext& context, const ExpertRouting& routing, at::Tensor rows);

}  // namespace meshwright::worker
