// ForEachTensor() enumerates the tensors that a block saves from forward to backward, with their
// names in planner/block/operator.h.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_branch.h"
#include "executor/worker/model/ffn_layer.h"
#include "planner/block/operator.h"
#include "planner/containers/enum_set.h"

namespace meshwright::worker {

// Calls visit(name, tensor) for each tensor of a product's input, including undefined ones. In all
// overloads a combined buffer has the name of its last part: kValue for queries, keys and values,
// kUp for gate and up.
template <typename Visit>
void ForEachTensor(planner::KeptTensor name, ProductInput& input, const Visit& visit) {
  visit(name, input.wide);
  visit(name, input.narrow.values);
  visit(name, input.narrow.scales);
}

template <typename Visit>
void ForEachTensor(AttentionSaved& saved, const Visit& visit) {
  using planner::KeptTensor;
  visit(KeptTensor::kAttentionResidual, saved.residual);
  ForEachTensor(KeptTensor::kAttentionNormOutput, saved.norm_output, visit);
  visit(KeptTensor::kAttentionNormRstd, saved.norm_rstd);
  visit(KeptTensor::kValue, saved.qkv);
  visit(KeptTensor::kAttentionOutput, saved.attention.output);
  ForEachTensor(KeptTensor::kAttentionOutput, saved.output, visit);
  for (AttentionStatistics& statistics : saved.attention.statistics) {
    visit(KeptTensor::kLogSumExp, statistics.log_sum_exp);
    visit(KeptTensor::kLogSumExp, statistics.random_seed);
    visit(KeptTensor::kLogSumExp, statistics.random_offset);
  }
  visit(KeptTensor::kLatent, saved.latent.latents);
  visit(KeptTensor::kLatentRstd, saved.latent.query_rstd);
  visit(KeptTensor::kLatentRstd, saved.latent.key_rstd);
  visit(KeptTensor::kLatentNormOutput, saved.latent.normed);
  visit(KeptTensor::kQuery, saved.latent.query);
  visit(KeptTensor::kTurnedKey, saved.latent.turned_key);
}

template <typename Visit>
void ForEachTensor(ExpertsSaved& saved, const Visit& visit) {
  using planner::KeptTensor;
  visit(KeptTensor::kRouterScores, saved.logits);
  visit(KeptTensor::kRouting, saved.weights);
  visit(KeptTensor::kRouting, saved.routing.picked);
  visit(KeptTensor::kRouting, saved.routing.row_of_slot);
  visit(KeptTensor::kRouting, saved.routing.slot_of_row);
  visit(KeptTensor::kRouting, saved.routing.place_of_row);
  visit(KeptTensor::kRouting, saved.routing.slots_of_sequences);
  visit(KeptTensor::kRouting, saved.row_weights);
  ForEachTensor(KeptTensor::kExpertInput, saved.input, visit);
  visit(KeptTensor::kExpertUp, saved.gate_up);
  ForEachTensor(KeptTensor::kExpertProduct, saved.product, visit);
}

template <typename Visit>
void ForEachTensor(FfnSaved& saved, const Visit& visit) {
  using planner::KeptTensor;
  visit(KeptTensor::kFfnResidual, saved.residual);
  visit(KeptTensor::kFfnNormOutput, saved.norm_output);
  ForEachTensor(KeptTensor::kFfnNormOutput, saved.gate_up_input, visit);
  visit(KeptTensor::kFfnNormRstd, saved.norm_rstd);
  visit(KeptTensor::kUp, saved.gate_up);
  ForEachTensor(KeptTensor::kFfnProduct, saved.product, visit);
  ForEachTensor(saved.experts, visit);
}

// Releases the tensors named in `frees`.
template <typename Saved>
void Drop(const planner::EnumSet<planner::KeptTensor>& frees, Saved& saved) {
  ForEachTensor(saved, [&frees](planner::KeptTensor name, at::Tensor& tensor) {
    if (frees.Has(name)) tensor.reset();
  });
}

}  // namespace meshwright::worker
