#include "planner/memory/worker_operators.h"

#include "planner/memory/worker_attention.h"
#include "planner/memory/worker_matmul.h"

namespace meshwright::planner {
namespace {

// Ranks that combine their statistics keep their own maxima beside the group's.
int64_t OwnMaximaBytes(const Operator& loss) {
  const auto& collectives = loss.pass(PassKind::kForward).collectives;
  return collectives.empty() ? 0 : collectives[0].bytes;
}

}  // namespace

int64_t WorkspaceBytes(const Operator& op, PassKind pass, const WorkerShape& shape) {
  switch (op.kind) {
    case OperatorKind::kMatmul:
      return MatmulPassBytes(op.matmul, pass, shape.block) + op.pass(pass).copied_bytes;
    case OperatorKind::kAttention:
      if (pass != PassKind::kInputGradient) return 0;
      return AttentionGradientBytes(shape) - op.pass(pass).result_bytes;
    case OperatorKind::kCrossEntropy:
      return pass == PassKind::kForward ? OwnMaximaBytes(op) : 0;
    case OperatorKind::kNorm:
    case OperatorKind::kElementwise:
    case OperatorKind::kEmbedding:
    case OperatorKind::kCollective:
      return 0;
  }
  return 0;
}

}  // namespace meshwright::planner
