// Which experts a micro-batch's tokens go to, and where their rows lie on the way.
//
// A slot is one of the top_k experts of a token of this rank's share of the residual stream; slots
// of a token are neighbours. Sent rows are the slots in the order of their experts, which is that
// of the ranks that hold these. A rank of the EP group receives rows in the order of the ranks that
// send them; the ranks of its expert tensor parallel put together what each of them received,
// padded to the longest; and its experts work on rows in the order of the experts.
//
// Where experts have a capacity (planner::Experts::capacity), the slots of a sequence that come to
// one of them later, by position, than so many others are dropped: they have no row, and count as
// 0. What a sequence drops depends on no other sequence, and on no layout.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/state/rank_context.h"
#include "planner/spec/model_spec.h"

namespace meshwright::worker {

struct ExpertRouting {
  // Tensors, int32.
  at::Tensor picked;        // [stream tokens, top_k]: the expert of a slot
  at::Tensor row_of_slot;   // [stream tokens, top_k]: its sent row, -1 where it was dropped
  at::Tensor slot_of_row;   // [sent rows]
  at::Tensor place_of_row;  // [expert rows]: among what was put together; only if rows move

  // [sequences, experts], accumulator dtype: slots, those that were dropped too; only under a
  // balance loss.
  at::Tensor slots_of_sequences;

  // On the host: slots of this rank's tokens that picked each expert of the layer, those that were
  // dropped too.
  std::vector<int64_t> slots_of_experts;

  // Numbers of rows, on the host.
  std::vector<int64_t> sent;         // to each rank of the EP group
  std::vector<int64_t> received;     // from each of them
  int64_t padded = 0;                // that each rank of the expert tensor parallel brings
  std::vector<int64_t> expert_rows;  // of each of this rank's experts

  int64_t sent_rows() const { return slot_of_row.size(0); }
  int64_t received_rows() const;
  int64_t rows() const;  // of all of this rank's experts
  // Leaves the numbers.
  void ReleaseLists();
};

// The experts of a run that balances them by force (planner::Routing::kBalanced): [stream tokens,
// top_k].
at::Tensor BalancedExperts(const RankContext& context, const planner::Experts& experts);

// Asks the other ranks how many rows they send, and which of a sequence's slots come first.
// `picked` is complete on the device.
ExpertRouting MakeRouting(RankContext& context, const planner::Experts& experts, at::Tensor picked);

// Rows [sent rows, width] in the order in which they are sent -> [expert rows, width] in the order
// of this rank's experts. Both directions release what they are given.
at::Tensor ToExperts(RankContext& context, const ExpertRouting& routing, at::Tensor rows);
// The way back. Adds up what the ranks of the expert tensor parallel made of a row.
at::Tensor FromExperts(RankContext& context, const ExpertRouting& routing, at::Tensor rows);

}  // namespace meshwright::worker
