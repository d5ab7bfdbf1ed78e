#include "planner/block/workspace.h"

#include <algorithm>

#include "planner/block/kept.h"

namespace meshwright::planner {
namespace {

// The FFN's backward is the widest: it holds gradients of the hidden width and of the inner width
// while its last projection turns the one into the other.
double GradientBytes(const Operator& op, const WorkspaceRates& rates) {
  if (!op.propagates) return 0.0;
  if (op.name != OperatorName::kDownProjection && op.name != OperatorName::kExpertDownProjection) {
    return 0.0;
  }
  return rates.hidden_bytes * static_cast<double>(op.matmul.rows * op.matmul.outputs) +
         rates.ffn_bytes * static_cast<double>(op.matmul.rows * op.matmul.inputs);
}

// Ring attention receives the next block of keys and values while it works on one.
int64_t RingBytes(const Operator& op) {
  int64_t bytes = 0;
  for (const OperatorCollective& collective : op.pass(PassKind::kForward).collectives) {
    if (collective.kind == CollectiveKind::kSend) bytes += 2 * collective.bytes;
  }
  return bytes;
}

int64_t ScoreElements(const Operator& op) {
  return op.attention.tokens * op.attention.keys * op.attention.heads;
}

}  // namespace

Workspace WorkspaceOf(const OperatorList& block, const WorkspaceRates& rates) {
  Workspace workspace;
  const bool writes_scores = KeptBytes(block, KeptTensor::kScores) > 0;
  int64_t gradient_bytes = 0;  // experts and the FFN beside them run one after the other
  int64_t widened_bytes = 0;   // products run one after another
  for (const Operator& op : block) {
    gradient_bytes = std::max(gradient_bytes, static_cast<int64_t>(GradientBytes(op, rates)));
    widened_bytes = std::max(widened_bytes, op.widened_bytes);
    if (op.propagates) workspace.working_bytes += RingBytes(op) + op.core.workspace_bytes;
    if (!writes_scores) continue;
    workspace.score_bytes +=
        static_cast<int64_t>(rates.score_bytes * static_cast<double>(ScoreElements(op)));
  }
  workspace.working_bytes += gradient_bytes + widened_bytes;
  return workspace;
}

KeptForBackward::KeptForBackward(const OperatorList& operators)
    : all_bytes(KeptBytes(operators)), score_bytes(KeptBytes(operators, KeptTensor::kScores)) {}

Workspace RecomputedBytes(const KeptForBackward& block, const KeptForBackward& edited) {
  const int64_t scores = block.score_bytes - edited.score_bytes;
  return {.working_bytes = block.all_bytes - edited.all_bytes - scores, .score_bytes = scores};
}

}  // namespace meshwright::planner
