// Liveness computes how many bytes Meshwright's own worker holds while it runs a list of operators,
// for one micro-batch on one rank. A tensor is held from the operator that makes it to the last
// operator that reads it.
//
// The list says what each operator returns, saves and frees. WorkspaceBytes() says what an operator
// holds in addition while it runs. A part of the list is a norm and everything after it up to the
// residual stream. executor/worker/model runs the operators of a part in this order:
//
//   forward            In list order. A result is freed when the next result exists, unless it is
//                      saved. Tensors that recompute does not keep are freed at the end of the
//                      part.
//   recompute          The marked operators, in list order, up to the last one that makes a saved
//                      tensor.
//   branches           The experts and the FFN beside them read the output of one norm. A forward
//                      holds the result of the first branch while the second runs. A backward goes
//                      through the second branch first, and holds the gradient of the norm's output
//                      from this branch while it goes through the first branch.
//   input gradients    In reverse order. The incoming gradient is held until the operator of the
//                      norm, which adds it to the norm's input gradient.
//   weight gradients   A projection's weight gradient waits. It is computed right before the input
//                      gradient of the projection before it, or while the projection's own input
//                      gradient is sent to the other ranks. Two projections that read the same
//                      tensor wait together, and share one gradient of it. With sequence
//                      parallelism a projection's input is gathered as soon as the backward reaches
//                      the projection.
#pragma once

#include <array>
#include <cstdint>

#include "planner/block/operator.h"
#include "planner/containers/short_list.h"
#include "planner/worker_memory/worker_shape.h"

namespace meshwright::planner {

// The gradients that a backward computes: both, or one of them in each part of a split backward.
struct Gradients {
  bool input = true;
  bool weight = true;
};

class Liveness {
 public:
  // The operators [begin, end) of the list: a norm and everything after it up to the residual
  // stream.
  struct Part {
    size_t begin = 0;
    size_t end = 0;
  };

  // `kept` is the same list after recompute has edited it (Apply() of planner/block/recompute.h).
  Liveness(const OperatorList& operators, const OperatorList& kept, const WorkerShape& shape);

  // Returns the bytes of saved tensors that are made before the list begins.
  int64_t given_bytes() const { return given_bytes_; }
  // Returns whether the input of the part is held when its backward begins.
  bool KeepsInputOf(const Part& part) const;

  // Resets the count to `held_bytes`.
  void Start(int64_t held_bytes);
  int64_t held_bytes() const { return held_bytes_; }
  int64_t most_bytes() const { return most_bytes_; }  // since Start()

  void Forward(const Part& part);
  void Recompute(const Part& part);
  // Follows the backward of a part, and returns the bytes of the gradient of its input. REQUIRES:
  // the gradient of the part's result, of `gradient_bytes`, is held.
  int64_t Backward(const Part& part, const Gradients& gradients, int64_t gradient_bytes);

 private:
  // Bytes that an operator makes in addition to its result.
  struct Beside {
    int64_t bytes = 0;
    // Bytes of a quantised copy of the result, made after the result.
    int64_t narrow_copy_bytes = 0;
  };

  // The bytes that an operator makes, saves and frees, and the facts that decide when.
  struct Step {
    OperatorKind kind = OperatorKind::kElementwise;
    std::array<int64_t, 3> result_bytes = {};     // by PassKind
    std::array<int64_t, 3> workspace_bytes = {};  // by PassKind
    Beside beside = {};                           // saved in addition to the result
    int64_t dropped_bytes = 0;                    // bytes that it saves but recompute does not keep
    Beside dropped_beside = {};
    int64_t freed_input_bytes = 0;   // bytes of saved tensors that its input gradient frees
    int64_t freed_weight_bytes = 0;  // bytes of saved tensors that its weight gradient frees
    bool result_saved = false;       // an operator of the list saves the result
    bool result_kept = false;        // the result is saved under recompute too
    bool takes_place = false;        // its input gradient overwrites a tensor that it saved
    bool repeats_forward = false;
    bool recomputed = false;
    bool starts_branch = false;
    bool moves_rows = false;  // moves tokens' rows to experts or back
    bool is_router = false;
    bool reads_as_previous = false;
  };

  // A tensor that the next operator reads.
  struct Current {
    int64_t bytes = 0;
    bool saved = false;
  };

  // A projection whose weight gradient is still to be computed.
  struct Waiting {
    const Step* step = nullptr;
    int64_t input_bytes = 0;      // its input, gathered for the weight gradient
    int64_t gradient_bytes = 0;   // bytes of its result's gradient, if this is a separate tensor
    const Step* other = nullptr;  // the projection before it, if both read the same tensor
  };

  // The state of a backward.
  struct Walk {
    Gradients gradients;
    int64_t stream_bytes = 0;    // the incoming gradient
    int64_t gradient_bytes = 0;  // gradient of the current operator's result, besides stream_bytes
    bool on_stream = true;       // the current gradient is the incoming one
    bool in_place = false;       // the current gradient has overwritten a saved tensor
    bool keeps_stream = false;   // the incoming gradient is kept for a later weight gradient
    int64_t branch_bytes = 0;    // gradients of the norm's output from finished branches
    Waiting waiting;
  };

  void AddSaves(const OperatorList& operators, const OperatorList& kept);
  void Take(int64_t bytes);
  void Give(int64_t bytes) { held_bytes_ -= bytes; }
  void Touch(int64_t bytes);

  // Returns the index after the last operator of [begin, end) whose result a backward needs.
  size_t EndOfNeeded(size_t begin, size_t end) const;
  // Returns the end of the branch that begins at `begin`.
  size_t EndOfBranch(size_t begin, size_t end) const;
  void Compute(const Step& step, const Beside& beside, Current& current);
  // Returns whether the next operator reads the same tensor as this one.
  bool IsReadAgain(const Step& step) const;
  void BackwardFirstOfTwo(const Step& step, Walk& walk);
  void BackwardStep(size_t index, Walk& walk);
  void BackwardProjection(size_t index, Walk& walk);
  void BackwardInPlace(size_t index, Walk& walk);
  void BackwardCollective(const Step& step, Walk& walk);
  void BackwardMove(const Step& step, Walk& walk);
  void BackwardRouter(const Step& step, Walk& walk);
  void EndBranch(Walk& walk);
  void FinishWaiting(Walk& walk);

  ShortList<Step, 32> steps_;
  int64_t given_bytes_ = 0;
  int64_t held_bytes_ = 0;
  int64_t most_bytes_ = 0;
};

}  // namespace meshwright::planner
