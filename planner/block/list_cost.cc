#include "planner/block/list_cost.h"

#include <iterator>
#include <memory>

#include "planner/block/pass.h"

namespace meshwright::planner {
namespace {

// An adapter's products are as narrow as its rank. Their memory traffic takes longer than their
// arithmetic, and kernels choose separate tiles for their long sides. They are therefore timed like
// a core; this is a choice.
bool IsNarrow(const Operator& op) { return op.kind == OperatorKind::kMatmul && op.adapts; }

double ExecutedFlops(const Operator& op, PassKind pass) {
  if (IsNarrow(op)) return WorkOf(op, pass).flops;
  if (op.kind != OperatorKind::kCore || pass == PassKind::kWeightGradient || !Runs(op, pass)) {
    return 0.0;
  }
  return op.core.forward_flops * (pass == PassKind::kForward ? 1.0 : op.core.backward_ratio);
}

void AddPass(const Operator& op, PassKind pass, ListCost& cost) {
  const bool forward = pass == PassKind::kForward;
  const bool multiplies = op.kind == OperatorKind::kMatmul && Runs(op, pass) && !IsNarrow(op);
  const double stream_bytes = IsNarrow(op) ? WorkOf(op, pass).bytes : StreamBytes(op, pass);
  const double core_flops = ExecutedFlops(op, pass);
  if (!multiplies && stream_bytes <= 0.0 && core_flops <= 0.0) return;
  cost.passes.push_back({.pass = pass,
                         .repeated = forward && op.repeats_forward,
                         .recomputed_share = forward && op.recomputed ? op.recomputed_share : 0.0,
                         .multiplies = multiplies,
                         .product = multiplies ? ProductOf(op, pass) : MatmulShape{},
                         .stream_bytes = stream_bytes,
                         .core_flops = core_flops});
}

void AddCollectives(const Operator& op, PassKind pass, ListCost& cost) {
  for (const OperatorCollective& collective : op.pass(pass).collectives) {
    if (collective.behind_compute) continue;
    const bool of_context = collective.group == GroupRole::kContext;
    if (of_context && op.kind == OperatorKind::kAttention) continue;  // timed with the ring
    (of_context ? cost.context_collectives : cost.collectives)
        .push_back({.pass = pass,
                    .group = collective.group,
                    .kind = collective.kind,
                    .of_loss = op.kind == OperatorKind::kCrossEntropy,
                    .recomputed = pass == PassKind::kForward && op.recomputed,
                    .bytes = collective.bytes});
  }
}

// What attention that is not fused launches beside its first product: the scores' scale and mask,
// their softmax in wider numbers and back, and the product with the values.
constexpr int32_t kFurtherOperatorsOfEagerAttention = 5;

// A further stop of ring attention sends, receives, attends and merges.
constexpr int32_t kOperatorsOfRingStop = 4;

int32_t& OperatorsOf(PassKind pass, ListCost& cost) {
  return pass == PassKind::kForward ? cost.forward_operators : cost.backward_operators;
}

void CountOperators(ListCost& cost) {
  for (const PassCost& pass : cost.passes) ++OperatorsOf(pass.pass, cost);
  for (const CollectiveCost& collective : cost.collectives) ++OperatorsOf(collective.pass, cost);
  for (const CollectiveCost& collective : cost.context_collectives) {
    ++OperatorsOf(collective.pass, cost);
  }
  if (cost.attention == nullptr) return;
  const auto further = static_cast<int32_t>(cost.attention->attention.ring_stops - 1);
  for (const PassKind pass : {PassKind::kForward, PassKind::kInputGradient}) {
    if (!Runs(*cost.attention, pass)) continue;
    OperatorsOf(pass, cost) += 1 + kOperatorsOfRingStop * further;
    if (cost.attention->kernel == AttentionKernel::kEager) {
      OperatorsOf(pass, cost) += kFurtherOperatorsOfEagerAttention;
    }
  }
}

}  // namespace

ListCost CostOf(const OperatorList& operators) {
  ListCost cost;
  cost.passes.reserve(operators.size() * std::size(kPasses));
  for (const Operator& op : operators) {
    for (const PassKind pass : kPasses) {
      AddPass(op, pass, cost);
      AddCollectives(op, pass, cost);
    }
    if (op.kind == OperatorKind::kAttention) cost.attention = std::make_unique<const Operator>(op);
  }
  CountOperators(cost);
  return cost;
}

}  // namespace meshwright::planner
