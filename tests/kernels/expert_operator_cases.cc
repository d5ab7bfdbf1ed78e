// Cases of the operators of a mixture of experts.
#include <string>
#include <utility>

#include "tests/kernels/operands.h"
#include "tests/kernels/operator_cases.h"

namespace meshwright::kernels {
namespace {

constexpr int64_t kExpertRows = 67;
constexpr int64_t kOddExpertWidth = 291;
constexpr int64_t kEvenExpertWidth = 2176;

struct Router {
  int64_t experts = 8;
  int64_t top_k = 2;
  int64_t groups = 1;
  int64_t top_groups = 1;
  int64_t group_best = 1;
  RouterScore score = RouterScore::kSoftmax;
  double spread = 3.0;  // of the logits; 0 makes them all alike
  bool balance_loss = false;
  double z_scale = 0.0;
  double bias = 0.0;  // of the selection, to either side
};

// Of rows that begin in the middle of a sequence.
RouterLosses LossesOf(const Router& router, Operands& o) {
  constexpr int64_t kFirst = 11;
  constexpr int64_t kSequenceRows = 26;
  constexpr int64_t kSequences = (kFirst + kExpertRows) / kSequenceRows + 1;
  if (!router.balance_loss) return {.z_scale = router.z_scale};
  return {.slots = o.Acc(kSequences * router.experts, 0.0, 12.0),
          .scale = 0.375,
          .first_row = kFirst,
          .sequence_rows = kSequenceRows,
          .z_scale = router.z_scale};
}

// What was picked counts as a result, so that it must be what the reference picks.
std::vector<double> RunRouter(const Kernels& kernels, Memory& memory, ElementType type,
                              const Router& router) {
  Operands o(memory, type);
  void* logits = o.Elements(kExpertRows * router.experts, -router.spread, router.spread);
  const RouterForward forward{
      .type = type,
      .rows = kExpertRows,
      .experts = router.experts,
      .top_k = router.top_k,
      .groups = router.groups,
      .top_groups = router.top_groups,
      .group_best = router.group_best,
      .score = router.score,
      .picks = true,
      .selection_bias =
          router.bias > 0.0 ? o.Acc(router.experts, -router.bias, router.bias) : nullptr,
      .logits = logits,
      .picked = o.Integers(kExpertRows * router.top_k, 1),
      .weights = o.Zeros(kExpertRows * router.top_k)};
  kernels.Run(forward);
  o.CollectIntegers(forward.picked, kExpertRows * router.top_k);
  o.CollectAcc(forward.weights, kExpertRows * router.top_k);
  kernels.Run(RouterBackward{.type = type,
                             .rows = kExpertRows,
                             .experts = router.experts,
                             .top_k = router.top_k,
                             .score = router.score,
                             .losses = LossesOf(router, o),
                             .logits = logits,
                             .picked = forward.picked,
                             .dweights = o.Acc(kExpertRows * router.top_k, -9.0, 9.0),
                             .dlogits = logits});
  o.CollectElements(logits, kExpertRows * router.experts);
  return o.outputs();
}

// The weights of experts that were given.
std::vector<double> RunGivenExperts(const Kernels& kernels, Memory& memory, ElementType type) {
  constexpr int64_t kExperts = 40;
  Operands o(memory, type);
  const RouterForward forward{.type = type,
                              .rows = kExpertRows,
                              .experts = kExperts,
                              .top_k = 1,
                              .groups = 1,
                              .top_groups = 1,
                              .group_best = 1,
                              .score = RouterScore::kSoftmax,
                              .picks = false,
                              .logits = o.Elements(kExpertRows * kExperts),
                              .picked = o.Integers(kExpertRows, kExperts),
                              .weights = o.Zeros(kExpertRows)};
  kernels.Run(forward);
  o.CollectIntegers(forward.picked, kExpertRows);
  o.CollectAcc(forward.weights, kExpertRows);
  return o.outputs();
}

// Every third slot went nowhere.
std::vector<double> RunMoveRows(const Kernels& kernels, Memory& memory, ElementType type,
                                int64_t width) {
  constexpr int64_t kTerms = 3;
  Operands o(memory, type);
  std::vector<int32_t> slots;  // of each row, in an order of their own
  std::vector<int32_t> rows(kExpertRows * kTerms, -1);
  for (int32_t i = 0; i < kExpertRows * kTerms; ++i) {
    const int32_t slot = i * 50 % static_cast<int32_t>(kExpertRows * kTerms);
    if (slot % 3 == 1) continue;
    rows[static_cast<size_t>(slot)] = static_cast<int32_t>(slots.size());
    slots.push_back(slot);
  }
  const auto count = static_cast<int64_t>(slots.size());
  const GatherRows gather{.type = type,
                          .rows = count,
                          .width = width,
                          .divisor = kTerms,
                          .index = o.Integers(slots),
                          .x = o.Elements(kExpertRows * width),
                          .y = o.Elements(count * width)};
  kernels.Run(gather);
  o.CollectElements(gather.y, count * width);
  const SumRows sum{.type = type,
                    .rows = kExpertRows,
                    .terms = kTerms,
                    .width = width,
                    .index = o.Integers(rows),
                    .x = gather.y,
                    .y = o.Elements(kExpertRows * width)};
  kernels.Run(sum);
  o.CollectElements(sum.y, kExpertRows * width);
  const ScatterRows scatter{.type = type,
                            .rows = count,
                            .width = width,
                            .index = gather.index,
                            .x = gather.y,
                            .y = o.Elements(kExpertRows * kTerms * width)};
  kernels.Run(scatter);
  o.CollectElements(scatter.y, kExpertRows * kTerms * width);
  const GatherRows back{.type = type,
                        .rows = kExpertRows * kTerms,
                        .width = width,
                        .divisor = 1,
                        .index = sum.index,
                        .x = gather.y,
                        .y = o.Elements(kExpertRows * kTerms * width)};
  kernels.Run(back);
  o.CollectElements(back.y, kExpertRows * kTerms * width);
  return o.outputs();
}

std::vector<double> RunExpertSwiglu(const Kernels& kernels, Memory& memory, ElementType type,
                                    int64_t width, SwigluForm form) {
  Operands o(memory, type);
  void* gate_up = o.Elements(kExpertRows * 2 * width, -6.0, 6.0);
  void* weights = o.Acc(kExpertRows, 0.0, 1.0);
  const ExpertSwigluForward forward{.type = type,
                                    .rows = kExpertRows,
                                    .width = width,
                                    .form = form,
                                    .gate_up = gate_up,
                                    .weights = weights,
                                    .product = o.Elements(kExpertRows * width)};
  kernels.Run(forward);
  o.CollectElements(forward.product, kExpertRows * width);
  kernels.Run(ExpertSwigluBackward{.type = type,
                                   .rows = kExpertRows,
                                   .width = width,
                                   .form = form,
                                   .dproduct = o.Elements(kExpertRows * width),
                                   .gate_up = gate_up,
                                   .weights = weights});
  o.CollectElements(gate_up, kExpertRows * 2 * width);
  o.CollectAcc(weights, kExpertRows);
  return o.outputs();
}

std::vector<double> RunWeighedBias(const Kernels& kernels, Memory& memory, ElementType type,
                                   int64_t width) {
  Operands o(memory, type);
  const WeighedBias forward{.type = type,
                            .rows = kExpertRows,
                            .width = width,
                            .weights = o.Acc(kExpertRows, 0.0, 1.0),
                            .bias = o.Elements(width),
                            .y = o.Elements(kExpertRows * width)};
  kernels.Run(forward);
  o.CollectElements(forward.y, kExpertRows * width);
  const WeighedBiasBackward backward{.type = type,
                                     .rows = kExpertRows,
                                     .width = width,
                                     .dy = forward.y,
                                     .bias = forward.bias,
                                     .dweights = o.Acc(kExpertRows)};
  kernels.Run(backward);
  o.CollectAcc(backward.dweights, kExpertRows);
  const BiasGradient bias{.type = type,
                          .rows = kExpertRows,
                          .width = width,
                          .dy = forward.y,
                          .weights = forward.weights,
                          .bias_gradient = o.Acc(width)};
  kernels.Run(bias);
  o.CollectAcc(bias.bias_gradient, width);
  return o.outputs();
}

}  // namespace

std::vector<OperatorCase> ExpertOperatorCases() {
  std::vector<OperatorCase> cases;
  const auto add = [&](std::string name, auto run, auto... options) {
    cases.push_back({std::move(name), [=](const Kernels& k, Memory& m, ElementType t) {
                       return run(k, m, t, options...);
                     }});
  };
  constexpr auto kSigmoid = RouterScore::kSigmoid;
  add("RouterMixtral", RunRouter, Router{});
  add("RouterSwitch", RunRouter, Router{.experts = 7, .top_k = 1});
  add("RouterSwitchSigmoid", RunRouter, Router{.experts = 7, .top_k = 1, .score = kSigmoid});
  add("RouterOfManyExperts", RunRouter, Router{.experts = 130, .top_k = 8});
  add("RouterOfGroups", RunRouter,
      Router{.experts = 64, .top_k = 6, .groups = 8, .top_groups = 3, .score = kSigmoid});
  add("RouterOfAllExperts", RunRouter, Router{.experts = 5, .top_k = 5});
  add("RouterOfEqualScores", RunRouter, Router{.experts = 40, .top_k = 4, .spread = 0.0});
  add("RouterOfEqualGroups", RunRouter,
      Router{.experts = 24, .top_k = 5, .groups = 6, .top_groups = 2, .spread = 0.0});
  add("RouterOfPairsInGroups", RunRouter,
      Router{.experts = 64,
             .top_k = 6,
             .groups = 8,
             .top_groups = 3,
             .group_best = 2,
             .score = kSigmoid});
  add("RouterOfPairsInGroupsSoftmax", RunRouter,
      Router{.experts = 24, .top_k = 5, .groups = 6, .top_groups = 2, .group_best = 2});
  add("RouterBalanceLoss", RunRouter, Router{.experts = 40, .top_k = 4, .balance_loss = true});
  add("RouterBalanceLossSigmoid", RunRouter,
      Router{.experts = 40, .top_k = 4, .score = kSigmoid, .balance_loss = true});
  add("RouterSwitchLosses", RunRouter,
      Router{.experts = 7, .top_k = 1, .balance_loss = true, .z_scale = 0.25});
  add("RouterZLoss", RunRouter, Router{.z_scale = 0.5});
  add("RouterZLossSigmoid", RunRouter, Router{.score = kSigmoid, .z_scale = 0.5});
  add("RouterSelectionBias", RunRouter, Router{.bias = 0.5});
  add("RouterSelectionBiasSigmoid", RunRouter,
      Router{.experts = 130, .top_k = 8, .score = kSigmoid, .bias = 0.25});
  add("RouterSelectionBiasOfGroups", RunRouter,
      Router{.experts = 64,
             .top_k = 6,
             .groups = 8,
             .top_groups = 3,
             .group_best = 2,
             .score = kSigmoid,
             .bias = 0.25});
  add("RouterSelectionBiasOfGroupsSoftmax", RunRouter,
      Router{
          .experts = 24, .top_k = 5, .groups = 6, .top_groups = 2, .group_best = 2, .bias = 0.125});
  add("RouterSelectionBiasDecidesAlone", RunRouter,
      Router{.experts = 40, .top_k = 4, .spread = 0.0, .bias = 0.25});
  add("RouterOfGivenExperts", RunGivenExperts);
  add("MoveElements", RunMoveRows, int64_t{1});
  for (const int64_t width : {kOddExpertWidth, kEvenExpertWidth}) {
    const std::string suffix = width == kOddExpertWidth ? "" : "Even";
    add("MoveRows" + suffix, RunMoveRows, width);
    add("ExpertSwiglu" + suffix, RunExpertSwiglu, width, SwigluForm{});
    add("ExpertSwigluClamped" + suffix, RunExpertSwiglu, width, ClampedSwiglu(3.0));
    add("WeighedBias" + suffix, RunWeighedBias, width);
  }
  return cases;
}

}  // namespace meshwright::kernels
