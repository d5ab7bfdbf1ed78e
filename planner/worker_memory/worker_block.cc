#include "planner/worker_memory/worker_block.h"

#include <algorithm>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/containers/memo.h"
#include "planner/worker_memory/liveness.h"

namespace meshwright::planner {
namespace {

constexpr Gradients kBoth = {};
constexpr Gradients kInputGradients = {.input = true, .weight = false};
constexpr Gradients kWeightGradients = {.input = false, .weight = true};

// Returns the bytes of one rank's part of the residual stream.
int64_t StreamBytes(const BlockShape& s) {
  return s.tokens * s.hidden * s.element_bytes / s.stream_ranks();
}

// Returns the index after the operator of this name, or the number of operators where there is
// none.
size_t EndOf(const OperatorList& operators, OperatorName name) {
  size_t index = 0;
  while (index < operators.size() && operators[index].name != name) ++index;
  return std::min(index + 1, operators.size());
}

// Follows one block by the worker's rules.
class Block {
 public:
  Block(const OperatorList& operators, const OperatorList& kept, const WorkerShape& shape)
      : liveness_(operators, kept, shape),
        attention_{.begin = 0, .end = EndOf(operators, OperatorName::kAttentionResidual)},
        ffn_{.begin = attention_.end, .end = operators.size()},
        stream_bytes_(StreamBytes(shape.block)),
        kept_bytes_(KeptBytes(kept)) {}

  int64_t kept_bytes() const { return kept_bytes_; }

  WorkerBlockBytes::Moment Forward() {
    liveness_.Start(liveness_.given_bytes());
    liveness_.Forward(attention_);
    liveness_.Forward(ffn_);
    return {kept_bytes_, liveness_.most_bytes() - kept_bytes_};
  }

  // Returns the peaks of a backward, which begins with the gradient of the block's output and what
  // the block keeps between forward and backward.
  WorkerBlockBytes::Halves Backward(const Gradients& gradients) {
    liveness_.Start(kept_bytes_ + stream_bytes_);
    const bool from_input = !liveness_.KeepsInputOf(ffn_);
    if (from_input) liveness_.Recompute(attention_);
    liveness_.Recompute(ffn_);
    gradient_bytes_ = liveness_.Backward(ffn_, gradients, stream_bytes_);
    WorkerBlockBytes::Halves halves;
    halves.ffn = {kept_bytes_, liveness_.most_bytes() - kept_bytes_};
    if (!from_input) liveness_.Recompute(attention_);
    const int64_t kept = liveness_.held_bytes() - gradient_bytes_;
    liveness_.Start(liveness_.held_bytes());
    gradient_bytes_ = liveness_.Backward(attention_, gradients, gradient_bytes_);
    halves.attention = {kept, liveness_.most_bytes() - kept};
    return halves;
  }

  // Returns the bytes that the input part of a backward leaves, right after it.
  int64_t LeftBytes() const { return liveness_.held_bytes() - gradient_bytes_; }

  WorkerBlockBytes::Halves BackwardWeight(int64_t left_bytes) {
    liveness_.Start(left_bytes);
    liveness_.Backward(ffn_, kWeightGradients, 0);
    WorkerBlockBytes::Halves halves;
    halves.ffn = {left_bytes, liveness_.most_bytes() - left_bytes};
    const int64_t kept = liveness_.held_bytes();
    liveness_.Start(kept);
    liveness_.Backward(attention_, kWeightGradients, 0);
    halves.attention = {kept, liveness_.most_bytes() - kept};
    return halves;
  }

 private:
  Liveness liveness_;
  const Liveness::Part attention_;
  const Liveness::Part ffn_;
  const int64_t stream_bytes_;
  const int64_t kept_bytes_;
  int64_t gradient_bytes_ = 0;  // of the block's input, after its backward
};

void AddEmbedding(const WorkerShape& shape, WorkerEndBytes& bytes) {
  const OperatorList embedding = EmbeddingOperators(shape.block);
  Liveness liveness(embedding, embedding, shape);
  const Liveness::Part all = {.begin = 0, .end = embedding.size()};
  bytes.token_ids = liveness.given_bytes();
  liveness.Start(0);
  liveness.Forward(all);
  bytes.embedding_forward = liveness.most_bytes();
  liveness.Start(0);
  liveness.Backward(all, kBoth, 0);
  bytes.embedding_gathered = liveness.most_bytes();
}

void AddHead(const WorkerShape& shape, WorkerEndBytes& bytes) {
  const OperatorList head = HeadOperators(shape.block);
  Liveness liveness(head, head, shape);
  const Liveness::Part all = {.begin = 0, .end = head.size()};
  const int64_t kept = KeptBytes(head);
  bytes.head_kept = kept;
  liveness.Start(liveness.given_bytes());
  liveness.Forward(all);
  bytes.head_forward = liveness.most_bytes() - kept;
  liveness.Start(kept);
  liveness.Backward(all, kBoth, 0);
  bytes.head_backward = liveness.most_bytes() - kept;
  liveness.Start(kept);
  const int64_t gradient = liveness.Backward(all, kInputGradients, 0);
  bytes.head_input = liveness.most_bytes() - kept;
  bytes.head_split = liveness.held_bytes() - gradient;
  liveness.Start(bytes.head_split);
  liveness.Backward(all, kWeightGradients, 0);
  bytes.head_weight = liveness.most_bytes() - bytes.head_split;
}

WorkerBlockBytes WorkOut(const WorkerShape& shape, const LayerRecompute& recompute) {
  const OperatorList operators = BlockOperators(shape.block);
  OperatorList kept = operators;
  Apply(PartsOf(recompute, shape.block), kept);
  Block block(operators, kept, shape);
  WorkerBlockBytes bytes;
  bytes.kept = block.kept_bytes();
  bytes.forward = block.Forward();
  bytes.backward = block.Backward(kBoth);
  bytes.input = block.Backward(kInputGradients);
  bytes.split = block.LeftBytes();
  bytes.weight = block.BackwardWeight(bytes.split);
  return bytes;
}

WorkerEndBytes WorkOutEnds(const WorkerShape& shape) {
  WorkerEndBytes bytes;
  bytes.stream = StreamBytes(shape.block);
  AddEmbedding(shape, bytes);
  AddHead(shape, bytes);
  return bytes;
}

struct BlockKey {
  WorkerShape shape;
  LayerRecompute recompute;

  friend bool operator==(const BlockKey&, const BlockKey&) = default;
};

}  // namespace

WorkerBlockBytes BlockBytes(const WorkerShape& shape, const LayerRecompute& recompute) {
  thread_local Memo<BlockKey, WorkerBlockBytes, kShapesOfASearch> known;
  return known.Get({shape, recompute}, [&] { return WorkOut(shape, recompute); });
}

WorkerEndBytes EndBytes(const WorkerShape& shape) {
  thread_local Memo<WorkerShape, WorkerEndBytes, kShapesOfASearch> known;
  return known.Get(shape, [&] { return WorkOutEnds(shape); });
}

}  // namespace meshwright::planner
