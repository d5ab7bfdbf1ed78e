#include "executor/worker/model/expert_layer.h"

#include <ATen/ops/empty.h>

#include <utility>

#include "executor/worker/model/expert_biases.h"
#include "executor/worker/model/linear.h"
#include "executor/worker/model/stream_positions.h"
#include "planner/spec/selection_bias.h"

namespace meshwright::worker {
namespace {

kernels::RouterScore ScoreOf(const planner::Experts& experts) {
  return experts.score == planner::RouterScore::kSigmoid ? kernels::RouterScore::kSigmoid
                                                         : kernels::RouterScore::kSoftmax;
}

// Per sequence and layer: experts / (top_k seq_len) * sum over experts of slots * mean score (arXiv
// 2412.19437, equations 17 to 20), and the mean square of log(sum(exp(logits))) (arXiv 2202.08906,
// equation 5); both are means over the step's sequences.
kernels::RouterLosses LossesOf(const RankContext& context, const planner::Experts& experts,
                               const ExpertRouting& routing) {
  const auto seq_len = static_cast<double>(context.training.seq_len);
  const double step_tokens = static_cast<double>(context.training.global_batch) * seq_len;
  const double even_slots =
      seq_len * static_cast<double>(experts.top_k) / static_cast<double>(experts.count);
  const bool balances = routing.slots_of_sequences.defined();
  return {.slots = balances ? routing.slots_of_sequences.const_data_ptr() : nullptr,
          .scale = experts.balance_loss / even_slots / step_tokens,
          .first_row = StreamPositions(context).first(),
          .sequence_rows = context.local_seq_len(),
          .z_scale = 2.0 * experts.z_loss / step_tokens};
}

// Returns nothing if routing is forced, since nothing is selected then.
std::optional<size_t> AddSelectionBias(RankContext& context, const planner::Experts& experts) {
  if (!planner::MovesSelectionBias(experts, context.training)) return std::nullopt;
  return context.selection_biases.Add(experts, context.options_of(context.accumulator_dtype()));
}

}  // namespace

ExpertLayer::ExpertLayer(RankContext& context, const planner::Ffn& ffn, FlatUnit& layer,
                         FlatUnit& experts)
    : context_(context),
      ffn_(ffn),
      layer_(layer),
      experts_(experts),
      router_(VectorsOf(layer.parameters(), planner::OperatorName::kRouter)),
      selection_bias_(AddSelectionBias(context, ffn.experts)),
      gate_up_(VectorsOf(experts.parameters(), planner::OperatorName::kExpertGateUpProjection)),
      down_(VectorsOf(experts.parameters(), planner::OperatorName::kExpertDownProjection)) {}

at::Tensor ExpertLayer::AddedDownBias() const {
  return context_.expert_tensor_rank() == 0 ? experts_.weight(down_.bias) : at::Tensor();
}

at::Tensor ExpertLayer::RouterWeight() const {
  return layer_.weight(router_.weight).view({ffn_.experts.count, context_.model.hidden});
}

void ExpertLayer::Route(const at::Tensor& norm_output, ExpertsSaved& saved) const {
  const planner::Experts& experts = ffn_.experts;
  const int64_t tokens = norm_output.size(0);
  const bool balanced = context_.training.routing == planner::Routing::kBalanced;
  saved.logits = LinearForward(norm_output, RouterWeight(), layer_.weight(router_.bias));
  at::Tensor picked = balanced ? BalancedExperts(context_, experts)
                               : at::empty({tokens, experts.top_k}, context_.options_of(at::kInt));
  saved.weights =
      at::empty({tokens, experts.top_k}, context_.options_of(context_.accumulator_dtype()));
  context_.device->kernels().Run(kernels::RouterForward{
      .type = context_.element(),
      .rows = tokens,
      .experts = experts.count,
      .top_k = experts.top_k,
      .groups = experts.groups,
      .top_groups = experts.top_groups,
      .group_best = experts.group_best(),
      .score = ScoreOf(experts),
      .picks = !balanced,
      .selection_bias = selection_bias_.has_value()
                            ? context_.selection_biases.of(*selection_bias_).const_data_ptr()
                            : nullptr,
      .logits = saved.logits.const_data_ptr(),
      .picked = picked.mutable_data_ptr<int32_t>(),
      .weights = saved.weights.mutable_data_ptr()});
  saved.routing = MakeRouting(context_, experts, std::move(picked));
}

at::Tensor ExpertLayer::RowsOfTokens(const at::Tensor& tokens, const ExpertRouting& routing) const {
  at::Tensor rows = at::empty({routing.sent_rows(), tokens.size(1)}, tokens.options());
  context_.device->kernels().Run(
      kernels::GatherRows{.type = context_.element(),
                          .rows = rows.size(0),
                          .width = rows.size(1),
                          .divisor = ffn_.experts.top_k,
                          .index = routing.slot_of_row.const_data_ptr<int32_t>(),
                          .x = tokens.const_data_ptr(),
                          .y = rows.mutable_data_ptr()});
  return rows;
}

at::Tensor ExpertLayer::TokensOfRows(at::Tensor expert_rows, const ExpertRouting& routing) const {
  const at::Tensor rows = FromExperts(context_, routing, std::move(expert_rows));
  at::Tensor sums = at::empty({routing.row_of_slot.size(0), rows.size(1)}, rows.options());
  context_.device->kernels().Run(
      kernels::SumRows{.type = context_.element(),
                       .rows = sums.size(0),
                       .terms = ffn_.experts.top_k,
                       .width = sums.size(1),
                       .index = routing.row_of_slot.const_data_ptr<int32_t>(),
                       .x = rows.const_data_ptr(),
                       .y = sums.mutable_data_ptr()});
  return sums;
}

at::Tensor ExpertLayer::RunToProduct(const at::Tensor& norm_output, ExpertsSaved& saved) const {
  Route(norm_output, saved);
  const ExpertRouting& routing = saved.routing;
  at::Tensor weights = at::empty({routing.sent_rows(), 1}, saved.weights.options());
  context_.device->kernels().Run(
      kernels::GatherRows{.type = context_.accumulator_element(),
                          .rows = routing.sent_rows(),
                          .width = 1,
                          .divisor = 1,
                          .index = routing.slot_of_row.const_data_ptr<int32_t>(),
                          .x = saved.weights.const_data_ptr(),
                          .y = weights.mutable_data_ptr()});
  saved.row_weights = ToExperts(context_, routing, std::move(weights));
  {
    const at::Tensor input = ToExperts(context_, routing, RowsOfTokens(norm_output, routing));
    saved.input = KeepInput(context_, input, routing.expert_rows);
    saved.gate_up = ProjectionForward(context_, input, experts_.weight(kExpertGateUpWeight),
                                      routing.expert_rows);
  }
  AddExpertBias(experts_.weight(gate_up_.bias), routing.expert_rows, saved.gate_up);
  return Activate(saved);
}

at::Tensor ExpertLayer::Activate(ExpertsSaved& saved) const {
  const int64_t width = saved.gate_up.size(1) / 2;
  at::Tensor product = at::empty({saved.gate_up.size(0), width}, saved.gate_up.options());
  context_.device->kernels().Run(
      kernels::ExpertSwigluForward{.type = context_.element(),
                                   .rows = saved.gate_up.size(0),
                                   .width = width,
                                   .form = form(),
                                   .gate_up = saved.gate_up.const_data_ptr(),
                                   .weights = saved.row_weights.const_data_ptr(),
                                   .product = product.mutable_data_ptr()});
  saved.product = KeepInput(context_, product, saved.routing.expert_rows);
  return product;
}

void ExpertLayer::Recompute(const planner::EnumSet<planner::OperatorName>& runs,
                            const at::Tensor& norm_output, ExpertsSaved& saved) const {
  if (runs.Has(planner::OperatorName::kExpertGateUpProjection)) {
    RunToProduct(norm_output, saved);
  } else if (runs.Has(planner::OperatorName::kExpertActivation)) {
    Activate(saved);
  }
}

at::Tensor ExpertLayer::Forward(const at::Tensor& norm_output, ExpertsSaved& saved) const {
  at::Tensor product = RunToProduct(norm_output, saved);
  const ExpertRouting& routing = saved.routing;
  context_.expert_traffic.Add(
      {.sent = routing.sent_rows(), .padded = routing.padded, .routed = routing.rows()},
      routing.expert_rows, saved.weights.numel() * int64_t{context_.layout.etp});
  if (selection_bias_.has_value() && context_.training.routing == planner::Routing::kLearned) {
    context_.selection_biases.Count(*selection_bias_, routing.slots_of_experts);
  }
  at::Tensor results = ProjectionForward(context_, std::exchange(product, {}),
                                         experts_.weight(kExpertDownWeight), routing.expert_rows);
  AddWeighedExpertBias(context_, saved.row_weights, AddedDownBias(), routing.expert_rows, results);
  return TokensOfRows(std::move(results), routing);
}

void ExpertLayer::BackwardProduct(ExpertsSaved& saved) const {
  const at::Tensor dproduct = ProjectionBackwardInput(
      context_, saved.gradient, experts_.weight(kExpertDownWeight), saved.routing.expert_rows);
  AddExpertBiasGradient(context_, saved.gradient, saved.routing.expert_rows, saved.row_weights,
                        experts_.gradient(down_.bias));
  context_.device->kernels().Run(
      kernels::ExpertSwigluBackward{.type = context_.element(),
                                    .rows = dproduct.size(0),
                                    .width = dproduct.size(1),
                                    .form = form(),
                                    .dproduct = dproduct.const_data_ptr(),
                                    .gate_up = saved.gate_up.mutable_data_ptr(),
                                    .weights = saved.row_weights.mutable_data_ptr()});
  AddBiasToWeightGradient(context_, saved.gradient, AddedDownBias(), saved.routing.expert_rows,
                          saved.row_weights);
}

void ExpertLayer::BackwardDownWeight(ExpertsSaved& saved) const {
  ProjectionBackwardWeight(context_, saved.gradient, saved.product, saved.routing.expert_rows,
                           experts_.TakeMatrixGradient(kExpertDownWeight));
  saved.gradient.reset();
  saved.product.reset();
}

void ExpertLayer::BackwardGateUpWeight(ExpertsSaved& saved) const {
  ProjectionBackwardWeight(context_, saved.gate_up, saved.input, saved.routing.expert_rows,
                           experts_.TakeMatrixGradient(kExpertGateUpWeight));
  AddExpertBiasGradient(context_, saved.gate_up, saved.routing.expert_rows, /*weights=*/{},
                        experts_.gradient(gate_up_.bias));
  saved.gate_up.reset();
  saved.input.reset();
}

void ExpertLayer::BackwardRouter(const at::Tensor& gradient, ExpertsSaved& saved) const {
  {
    const at::Tensor rows =
        FromExperts(context_, saved.routing, std::exchange(saved.row_weights, {}));
    context_.device->kernels().Run(
        kernels::GatherRows{.type = context_.accumulator_element(),
                            .rows = saved.weights.numel(),
                            .width = 1,
                            .divisor = 1,
                            .index = saved.routing.row_of_slot.const_data_ptr<int32_t>(),
                            .x = rows.const_data_ptr(),
                            .y = saved.weights.mutable_data_ptr()});
  }
  context_.device->kernels().Run(
      kernels::RouterBackward{.type = context_.element(),
                              .rows = saved.logits.size(0),
                              .experts = saved.logits.size(1),
                              .top_k = ffn_.experts.top_k,
                              .score = ScoreOf(ffn_.experts),
                              .losses = LossesOf(context_, ffn_.experts, saved.routing),
                              .logits = saved.logits.const_data_ptr(),
                              .picked = saved.routing.picked.const_data_ptr<int32_t>(),
                              .dweights = saved.weights.const_data_ptr(),
                              .dlogits = saved.logits.mutable_data_ptr()});
  saved.weights.reset();
  gradient.add_(LinearBackwardInput(saved.logits, RouterWeight()));
}

void ExpertLayer::BackwardRouterWeight(const at::Tensor& norm_output, ExpertsSaved& saved) const {
  const at::Tensor gradient =
      layer_.gradient(router_.weight).view({ffn_.experts.count, context_.model.hidden});
  LinearBackwardWeight(context_, saved.logits, norm_output, {.values = gradient, .empty = false});
  AddBiasGradient(context_, saved.logits, layer_.gradient(router_.bias));
  saved = {};
}

at::Tensor ExpertLayer::Backward(const at::Tensor& gradient, const at::Tensor& norm_output,
                                 ExpertsSaved& saved) const {
  saved.gradient = ToExperts(context_, saved.routing, RowsOfTokens(gradient, saved.routing));
  BackwardProduct(saved);
  BackwardDownWeight(saved);
  at::Tensor rows = ProjectionBackwardInput(
      context_, saved.gate_up, experts_.weight(kExpertGateUpWeight), saved.routing.expert_rows);
  BackwardGateUpWeight(saved);
  at::Tensor dinput = TokensOfRows(std::move(rows), saved.routing);
  BackwardRouter(dinput, saved);
  BackwardRouterWeight(norm_output, saved);
  return dinput;
}

at::Tensor ExpertLayer::BackwardInput(const at::Tensor& gradient, ExpertsSaved& saved) const {
  saved.gradient = ToExperts(context_, saved.routing, RowsOfTokens(gradient, saved.routing));
  BackwardProduct(saved);
  at::Tensor dinput = TokensOfRows(
      ProjectionBackwardInput(context_, saved.gate_up, experts_.weight(kExpertGateUpWeight),
                              saved.routing.expert_rows),
      saved.routing);
  BackwardRouter(dinput, saved);
  saved.routing.ReleaseLists();
  return dinput;
}

void ExpertLayer::BackwardWeight(const at::Tensor& norm_output, ExpertsSaved& saved) const {
  BackwardDownWeight(saved);
  BackwardGateUpWeight(saved);
  BackwardRouterWeight(norm_output, saved);
}

}  // namespace meshwright::worker
