// What Meshwright's own worker holds while it runs a list of operators: every tensor from the
// operator that makes it to the last one that reads it. Bytes of one micro-batch on one rank.
//
// The list says what each operator returns, saves and frees; WorkspaceBytes() what it takes beside.
// The order is the one in which executor/worker/model runs them:
//
//   forward            in order. A result goes when the next one is there, unless it is saved. What
//                      recompute does not keep goes at the end of its part.
//   recompute          the operators marked so, in order, as far as anything that is saved.
//   input gradients    in reverse. The gradient that comes in is there until the norm's, which adds
//                      it to its own.
//   weight gradients   a projection's waits until the input gradient of the projection before it is
//                      asked for, or its own is on its way to the other ranks. With sequence
//                      parallel its input is gathered before the product in front of it.
#pragma once

#include <array>
#include <cstdint>

#include "planner/base/short_list.h"
#include "planner/block/operator_list.h"
#include "planner/memory/worker_shape.h"

namespace meshwright::planner {

// What a backward computes: the two together, or one after the other.
struct Gradients {
  bool input = true;
  bool weight = true;
};

class Liveness {
 public:
  // Operators [begin, end) of the list, from a norm to where its branch ends.
  struct Part {
    size_t begin = 0;
    size_t end = 0;
  };

  // `kept` are the same operators, edited by recompute.
  Liveness(const OperatorList& operators, const OperatorList& kept, const WorkerShape& shape);

  // What comes into the list and is saved.
  int64_t given_bytes() const { return given_bytes_; }
  // Whether what comes into the part is there when its backward begins.
  bool KeepsInputOf(const Part& part) const;

  // Begin to watch, with so much held.
  void Start(int64_t held_bytes);
  int64_t held_bytes() const { return held_bytes_; }
  int64_t most_bytes() const { return most_bytes_; }  // since Start()

  void Forward(const Part& part);
  void Recompute(const Part& part);
  // Begins with the gradient of the part's result, which is held. Returns the bytes of the gradient
  // of its input.
  int64_t Backward(const Part& part, const Gradients& gradients, int64_t gradient_bytes);

 private:
  // One operator.
  struct Step {
    OperatorKind kind = OperatorKind::kElementwise;
    std::array<int64_t, 3> result_bytes = {};  // by PassKind, like the next one
    std::array<int64_t, 3> workspace_bytes = {};
    int64_t beside_bytes = 0;   // saved, and not its result
    int64_t dropped_bytes = 0;  // of all that it saves, what recompute does not keep
    int64_t dropped_beside_bytes = 0;
    int64_t freed_input_bytes = 0;   // saved tensors that go with its input gradient
    int64_t freed_weight_bytes = 0;  // and with its weight gradient
    bool result_saved = false;       // by an operator of the list
    bool result_kept = false;        // under recompute too
    bool takes_place = false;        // its input's gradient, of what it saved
    bool repeats_forward = false;
    bool recomputed = false;
  };

  // A tensor that the next operator reads.
  struct Current {
    int64_t bytes = 0;
    bool saved = false;
  };

  // A projection whose weight gradient is to come.
  struct Waiting {
    const Step* step = nullptr;
    int64_t input_bytes = 0;     // gathered for it
    int64_t gradient_bytes = 0;  // of its result, where that is a tensor of its own
  };

  // What a backward is at.
  struct Walk {
    Gradients gradients;
    int64_t stream_bytes = 0;    // the gradient that came in
    int64_t gradient_bytes = 0;  // of the result of the operator at hand, beside the stream's
    bool on_stream = true;       // it is the stream's
    bool in_place = false;       // it has taken the place of what was saved
    bool keeps_stream = false;   // for a weight gradient to come
    Waiting waiting;
  };

  void AddSaves(const OperatorList& operators, const OperatorList& kept);
  void Take(int64_t bytes);
  void Give(int64_t bytes) { held_bytes_ -= bytes; }
  void Touch(int64_t bytes);

  void Compute(const Step& step, int64_t beside_bytes, Current& current);
  void BackwardStep(size_t index, Walk& walk);
  void BackwardProjection(size_t index, Walk& walk);
  void BackwardInPlace(size_t index, Walk& walk);
  void BackwardCollective(const Step& step, Walk& walk);
  void FinishWaiting(Walk& walk);

  ShortList<Step, 16> steps_;
  int64_t given_bytes_ = 0;
  int64_t held_bytes_ = 0;
  int64_t most_bytes_ = 0;
};

}  // namespace meshwright::planner
