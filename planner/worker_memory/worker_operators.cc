#include "planner/worker_memory/worker_operators.h"

#include <algorithm>

#include "planner/worker_memory/worker_attention.h"
#include "planner/worker_memory/worker_matmul.h"
#include "planner/worker_memory/worker_narrowed.h"

namespace meshwright::planner {
namespace {

// Ranks that combine their statistics keep their own maxima in addition to the group's.
int64_t OwnMaximaBytes(const Operator& loss) {
  const auto& collectives = loss.pass(PassKind::kForward).collectives;
  return collectives.empty() ? 0 : collectives[0].bytes;
}

// Bytes of tokens on the way to experts and back. Rows from the ranks of the experts' tensor
// parallel are gathered, and both ends reorder rows.
struct MovedBytes {
  explicit MovedBytes(const BlockShape& s)
      : sent(RowBytes(s, s.sent_rows())),
        padded(RowBytes(s, s.padded_rows())),
        together(padded * s.etp),
        routed(RowBytes(s, s.routed_rows())) {}

  static int64_t RowBytes(const BlockShape& s, int64_t rows) {
    return rows * s.hidden * s.element_bytes;
  }

  int64_t sent;
  int64_t padded;
  int64_t together;
  int64_t routed;
};

// The result is the experts' input. Sent rows are held until the received rows have arrived.
// Received rows are held until they are gathered.
int64_t ToExpertsBytes(const BlockShape& s) {
  if (!s.moves_rows()) return 0;
  const MovedBytes moved(s);
  const bool receives = s.ep > 1 || moved.padded > moved.sent;
  int64_t most = moved.together + moved.routed;
  if (receives) most = std::max(most, moved.sent + moved.padded);
  if (s.etp > 1) {
    most = std::max(most, (receives ? moved.padded : moved.sent) + moved.together);
  }
  return most - moved.routed;
}

// The experts' output is held until it is in the order in which it is sent back, and the received
// rows until each token has the sum of its rows, which is the result.
int64_t FromExpertsBytes(const BlockShape& s, int64_t result_bytes) {
  const MovedBytes moved(s);
  if (!s.moves_rows()) return 0;
  int64_t most = std::max(moved.routed + moved.together,
                          (s.ep > 1 ? moved.sent : moved.padded) + result_bytes);
  if (s.etp > 1) most = std::max(most, moved.together + moved.padded);
  if (s.ep > 1) most = std::max(most, moved.padded + moved.sent);
  return most - moved.routed - result_bytes;
}

int64_t MoveBytes(const Operator& op, PassKind pass, const BlockShape& shape) {
  if (pass == PassKind::kWeightGradient) return 0;
  const bool forward = pass == PassKind::kForward;
  if (op.name == OperatorName::kExpertDispatch) {
    return forward ? ToExpertsBytes(shape) : FromExpertsBytes(shape, op.pass(pass).result_bytes);
  }
  if (op.name == OperatorName::kExpertCombine) {
    return forward ? FromExpertsBytes(shape, op.pass(pass).result_bytes) : ToExpertsBytes(shape);
  }
  return 0;
}

}  // namespace

int64_t WorkspaceBytes(const Operator& op, PassKind pass, const WorkerShape& shape) {
  switch (op.kind) {
    case OperatorKind::kMatmul:
      return (shape.block.worker_quantises && op.narrowed
                  ? NarrowedPassBytes(op.matmul, pass, shape.block)
                  : MatmulPassBytes(op.matmul, pass, shape.block)) +
             op.pass(pass).copied_bytes;
    case OperatorKind::kAttention:
      if (pass != PassKind::kInputGradient) return 0;
      return AttentionGradientBytes(shape) - op.pass(pass).result_bytes;
    case OperatorKind::kCrossEntropy:
      return pass == PassKind::kForward ? OwnMaximaBytes(op) : 0;
    case OperatorKind::kElementwise:
      return MoveBytes(op, pass, shape.block);
    case OperatorKind::kNorm:
    case OperatorKind::kEmbedding:
    case OperatorKind::kCollective:
    case OperatorKind::kCore:  // which no worker runs
      return 0;
  }
  return 0;
}

}  // namespace meshwright::planner
