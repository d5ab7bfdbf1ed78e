#include "planner/block/workspace.h"

#include "planner/block/kept.h"

namespace meshwright::planner {
namespace {

// The FFN's backward is the widest: gradients of the hidden width and of the inner width, as its
// last projection turns the one into the other.
double GradientBytes(const Operator& op, const WorkspaceRates& rates) {
  if (op.name != OperatorName::kDownProjection) return 0.0;
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

Workspace WorkspaceOf(const OperatorList& block, const OperatorList& edited,
                      const WorkspaceRates& rates) {
  Workspace workspace;
  const int64_t scores = KeptBytes(block, KeptTensor::kScores);
  for (const Operator& op : block) {
    workspace.working_bytes += static_cast<int64_t>(GradientBytes(op, rates)) + RingBytes(op);
    if (scores > 0) {
      workspace.score_bytes +=
          static_cast<int64_t>(rates.score_bytes * static_cast<double>(ScoreElements(op)));
    }
  }
  const int64_t scores_again = scores - KeptBytes(edited, KeptTensor::kScores);
  workspace.working_bytes += KeptBytes(block) - KeptBytes(edited) - scores_again;
  workspace.score_bytes += scores_again;
  return workspace;
}

}  // namespace meshwright::planner
