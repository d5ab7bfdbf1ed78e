#include "tests/executor/worker/model/listed_run.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "planner/block/kept.h"
#include "planner/block/lifetime.h"
#include "planner/block/pass.h"
#include "planner/layout/mesh.h"

namespace meshwright::worker {
namespace {

using planner::Operator;
using planner::OperatorKind;
using planner::OperatorList;
using planner::OperatorName;
using planner::PassKind;

std::string_view WordOf(const Operator& op) {
  switch (op.kind) {
    case OperatorKind::kMatmul:
      return ran::kProduct;
    case OperatorKind::kAttention:
      return ran::kAttention;
    case OperatorKind::kNorm:
      return ran::kNorm;
    case OperatorKind::kEmbedding:
      return ran::kLookup;
    case OperatorKind::kCrossEntropy:
      return ran::kCrossEntropy;
    case OperatorKind::kElementwise:
      if (op.name == OperatorName::kRope) return ran::kRope;
      return op.name == OperatorName::kFfnActivation ? ran::kActivation : ran::kResidual;
    case OperatorKind::kCollective:
    case OperatorKind::kCore:  // which no worker runs
      break;
  }
  return "";
}

// Of the matrices among an operator's parameters, or of its vectors.
struct ParameterSum {
  std::string names;
  int64_t elements = 0;
};
ParameterSum SumOf(const Operator& op, bool matrices) {
  ParameterSum sum;
  for (const planner::OperatorParameter& parameter : op.parameters) {
    if (parameter.matrix != matrices) continue;
    if (!sum.names.empty()) sum.names += '+';
    sum.names += parameter.name;
    sum.elements += parameter.rank_elements();
  }
  return sum;
}

class Lister {
 public:
  explicit Lister(const planner::Layout& layout) : layout_(layout) {}

  RankRun& run() { return run_; }

  void Add(const Operator& op, PassKind pass) {
    if (op.kind == OperatorKind::kMatmul) {
      AddProduct(op, pass);
    } else if (op.kind == OperatorKind::kAttention) {
      if (pass != PassKind::kWeightGradient) AddOther(op, pass, Pairs(op.attention));
    } else if (op.stream.traffic_bytes[static_cast<size_t>(pass)] > 0) {
      AddOther(op, pass, op.stream.elements);
    }
    for (const planner::OperatorCollective& collective : op.pass(pass).collectives) {
      const bool ring = collective.kind == planner::CollectiveKind::kSend;
      const int64_t times =
          ring
              ? std::min(planner::GroupSize(collective.group, layout_), op.attention.ring_stops) - 1
              : 1;
      run_.communicated.insert(
          run_.communicated.end(), static_cast<size_t>(times),
          {.kind = collective.kind, .group = collective.group, .bytes = collective.bytes});
    }
  }

 private:
  static int64_t Pairs(const planner::AttentionShape& shape) {
    if (shape.window == 0) return shape.tokens * shape.keys * shape.heads / 2;
    // The first queries of a sequence see fewer.
    const int64_t seen = shape.window * shape.keys - shape.window * (shape.window - 1) / 2;
    return shape.tokens / shape.keys * seen * shape.heads;
  }

  void AddProduct(const Operator& op, PassKind pass) {
    const planner::MatmulShape product = planner::ProductOf(op, pass);
    run_.computed.push_back({.what = std::string(ran::kProduct),
                             .parameters = SumOf(op, /*matrices=*/true).names,
                             .size = {product.rows, product.outputs, product.inputs}});
    const ParameterSum bias = SumOf(op, /*matrices=*/false);
    if (bias.elements == 0 || pass == PassKind::kInputGradient) return;
    run_.computed.push_back(
        {.what = std::string(ran::kBias), .parameters = bias.names, .size = {bias.elements}});
  }

  void AddOther(const Operator& op, PassKind pass, int64_t elements) {
    const std::string what(WordOf(op));
    run_.computed.push_back(
        {.what = pass == PassKind::kForward ? what : ran::Gradient(what),
         .parameters = SumOf(op, /*matrices=*/true).names + SumOf(op, /*matrices=*/false).names,
         .size = {elements}});
  }

  const planner::Layout& layout_;
  RankRun run_;
};

// Where recompute ends: behind the last operator that makes anything that is saved.
size_t RecomputeEnd(const OperatorList& operators) {
  size_t end = 0;
  for (size_t i = 0; i < operators.size(); ++i) {
    for (const planner::SavedTensor& saved : operators[i].saves) {
      const planner::TensorOrigin origin = planner::OriginOf(saved);
      for (size_t maker = 0; maker < operators.size(); ++maker) {
        const bool makes = origin.origin == planner::Origin::kResult
                               ? operators[maker].name == origin.result_of
                               : origin.origin == planner::Origin::kBeside && maker == i;
        if (makes) end = std::max(end, maker + 1);
      }
    }
  }
  return end;
}

// The halves of a block, each with what it makes again in front: of both where the second half's
// input is not kept.
RankRun InputGradientOf(const OperatorList& kept, const OperatorList& whole,
                        const planner::Layout& layout) {
  Lister lister(layout);
  const size_t recompute_end = RecomputeEnd(whole);
  const auto recompute = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < std::min(end, recompute_end); ++i) {
      if (kept[i].recomputed) lister.Add(kept[i], PassKind::kForward);
    }
  };
  const auto backward = [&](size_t begin, size_t end) {
    for (size_t i = end; i-- > begin;) {
      if (kept[i].repeats_forward) lister.Add(kept[i], PassKind::kForward);
      lister.Add(kept[i], PassKind::kInputGradient);
    }
  };
  size_t half = 0;
  while (half < kept.size() && kept[half].name <= OperatorName::kAttentionResidual) ++half;
  const bool joined = planner::KeptBytes(kept, planner::KeptTensor::kFfnResidual) == 0;
  recompute(joined ? 0 : half, kept.size());
  backward(half, kept.size());
  if (!joined) recompute(0, half);
  backward(0, half);
  Sort(lister.run());
  return lister.run();
}

}  // namespace

void Sort(RankRun& run) { std::sort(run.computed.begin(), run.computed.end()); }

PassRuns ListedRuns(const OperatorList& kept, const OperatorList& whole,
                    const planner::Layout& layout) {
  Lister forward(layout);
  for (const Operator& op : kept) forward.Add(op, PassKind::kForward);
  Lister weight(layout);
  for (size_t i = kept.size(); i-- > 0;) weight.Add(kept[i], PassKind::kWeightGradient);
  return {.forward = forward.run(),
          .input_gradient = InputGradientOf(kept, whole, layout),
          .weight_gradient = weight.run(),
          .kept_bytes = planner::KeptBytes(kept)};
}

}  // namespace meshwright::worker
