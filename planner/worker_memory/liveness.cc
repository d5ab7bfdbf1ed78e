#include "planner/worker_memory/liveness.h"

#include <algorithm>

#include "planner/block/lifetime.h"
#include "planner/worker_memory/worker_operators.h"

namespace meshwright::planner {
namespace {

constexpr auto kForward = static_cast<size_t>(PassKind::kForward);
constexpr auto kInputPass = static_cast<size_t>(PassKind::kInputGradient);
constexpr auto kWeightPass = static_cast<size_t>(PassKind::kWeightGradient);

// The number of operator names, of which kMtpProjection is the last.
constexpr size_t kNames = static_cast<size_t>(OperatorName::kMtpProjection) + 1;
constexpr int8_t kAbsent = -1;

std::array<int8_t, kNames> IndexByName(const OperatorList& operators) {
  std::array<int8_t, kNames> index;
  index.fill(kAbsent);
  for (size_t i = 0; i < operators.size(); ++i) {
    index[static_cast<size_t>(operators[i].name)] = static_cast<int8_t>(i);
  }
  return index;
}

uint64_t Bit(KeptTensor tensor) { return uint64_t{1} << static_cast<int>(tensor); }

}  // namespace

Liveness::Liveness(const OperatorList& operators, const OperatorList& kept,
                   const WorkerShape& shape) {
  for (size_t i = 0; i < operators.size(); ++i) {
    const Operator& op = operators[i];
    Step& step = steps_.emplace_back();
    step.kind = op.kind;
    for (const PassKind pass : kPasses) {
      step.result_bytes[static_cast<size_t>(pass)] = op.pass(pass).result_bytes;
      step.workspace_bytes[static_cast<size_t>(pass)] = WorkspaceBytes(op, pass, shape);
    }
    step.reads_as_previous = op.reads_as_previous;
    step.takes_place = GradientTakesPlace(op);
    step.repeats_forward = op.repeats_forward;
    step.recomputed = kept[i].recomputed;
    step.starts_branch = op.starts_branch;
    step.moves_rows =
        op.name == OperatorName::kExpertDispatch || op.name == OperatorName::kExpertCombine;
    step.is_router = op.name == OperatorName::kRouter;
  }
  AddSaves(operators, kept);
}

void Liveness::AddSaves(const OperatorList& operators, const OperatorList& kept) {
  const std::array<int8_t, kNames> index = IndexByName(operators);
  const auto step_of = [&](OperatorName name) -> Step& {
    return steps_[static_cast<size_t>(index[static_cast<size_t>(name)])];
  };
  uint64_t all_kept = 0;
  for (const Operator& op : kept) {
    for (const SavedTensor& saved : op.saves) all_kept |= Bit(saved.tensor);
  }
  for (size_t i = 0; i < operators.size(); ++i) {
    for (const SavedTensor& saved : operators[i].saves) {
      const bool stays = (all_kept & Bit(saved.tensor)) != 0;
      const TensorOrigin origin = OriginOf(saved);
      if (origin.origin == Origin::kGiven) given_bytes_ += saved.bytes;
      if (origin.origin == Origin::kBeside) {
        const auto add_to = [&saved](Beside& beside) {
          (saved.narrow_copy ? beside.narrow_copy_bytes : beside.bytes) += saved.bytes;
        };
        add_to(steps_[i].beside);
        if (!stays) add_to(steps_[i].dropped_beside);
      }
      if (origin.origin == Origin::kResult) {
        step_of(origin.result_of).result_saved = true;
        step_of(origin.result_of).result_kept = stays;
      }
      if (!stays) steps_[i].dropped_bytes += saved.bytes;
      Step& last = step_of(saved.freed_by);
      (saved.freed_in == PassKind::kInputGradient ? last.freed_input_bytes
                                                  : last.freed_weight_bytes) += saved.bytes;
    }
  }
}

bool Liveness::KeepsInputOf(const Part& part) const {
  return part.begin == 0 || steps_[part.begin - 1].result_kept;
}

void Liveness::Start(int64_t held_bytes) {
  held_bytes_ = held_bytes;
  most_bytes_ = held_bytes;
}

void Liveness::Take(int64_t bytes) {
  held_bytes_ += bytes;
  most_bytes_ = std::max(most_bytes_, held_bytes_);
}

void Liveness::Touch(int64_t bytes) { most_bytes_ = std::max(most_bytes_, held_bytes_ + bytes); }

bool Liveness::IsReadAgain(const Step& step) const {
  const size_t next = static_cast<size_t>(&step - steps_.begin()) + 1;
  return next < steps_.size() && steps_[next].reads_as_previous;
}

// Operators that work in place pass on what they read.
void Liveness::Compute(const Step& step, const Beside& beside, Current& current) {
  const int64_t result = step.result_bytes[kForward];
  Take(result + beside.bytes);
  Touch(step.workspace_bytes[kForward]);
  Take(beside.narrow_copy_bytes);
  if (result > 0 && !IsReadAgain(step)) {
    if (!current.saved) Give(current.bytes);
    current = {.bytes = result};
  }
  current.saved |= step.result_saved;
}

void Liveness::Forward(const Part& part) {
  Current current = {.saved = true};
  int64_t branch_bytes = 0;
  for (size_t i = part.begin; i < part.end; ++i) {
    if (steps_[i].starts_branch) {
      branch_bytes += current.saved ? 0 : current.bytes;
      current = {.saved = true};
    }
    Compute(steps_[i], steps_[i].beside, current);
  }
  Give(branch_bytes);
  for (size_t i = part.begin; i < part.end; ++i) Give(steps_[i].dropped_bytes);
}

size_t Liveness::EndOfBranch(size_t begin, size_t end) const {
  size_t branch_end = begin + 1;
  while (branch_end < end && !steps_[branch_end].starts_branch) ++branch_end;
  return std::min(branch_end, end);
}

size_t Liveness::EndOfNeeded(size_t begin, size_t end) const {
  while (end > begin && !steps_[end - 1].result_saved && steps_[end - 1].beside.bytes == 0 &&
         steps_[end - 1].beside.narrow_copy_bytes == 0) {
    --end;
  }
  return end;
}

void Liveness::Recompute(const Part& part) {
  for (size_t begin = part.begin; begin < part.end; begin = EndOfBranch(begin, part.end)) {
    const size_t end = EndOfNeeded(begin, EndOfBranch(begin, part.end));
    Current current = {.saved = true};
    for (size_t i = begin; i < end; ++i) {
      if (!steps_[i].recomputed) continue;
      // Statistics that are still held are written again in place.
      Compute(steps_[i], steps_[i].dropped_beside, current);
      // A tensor that was recomputed only to be narrowed is freed unless the next recomputed
      // operator reads it.
      if (current.saved || (i + 1 < end && steps_[i + 1].recomputed)) continue;
      Give(current.bytes);
      current = {.saved = true};
    }
  }
}

void Liveness::FinishWaiting(Walk& walk) {
  const Waiting waiting = walk.waiting;
  walk.waiting = {};
  if (waiting.step == nullptr) return;
  Touch(waiting.step->workspace_bytes[kWeightPass]);
  Give(waiting.input_bytes + waiting.gradient_bytes + waiting.step->freed_weight_bytes);
  if (waiting.other == nullptr) return;
  Touch(waiting.other->workspace_bytes[kWeightPass]);
  Give(waiting.other->freed_weight_bytes);
}

// Walks the backward of the first of two projections that read the same tensor. Its gradient is
// copied into the gradient of the second projection.
void Liveness::BackwardFirstOfTwo(const Step& step, Walk& walk) {
  if (walk.gradients.input) Touch(step.workspace_bytes[kInputPass]);
  if (walk.gradients.weight) walk.waiting.other = &step;
}

void Liveness::BackwardProjection(size_t index, Walk& walk) {
  const Step& step = steps_[index];
  if (IsReadAgain(step)) {
    BackwardFirstOfTwo(step, walk);
    return;
  }
  Waiting own = {.step = &step};
  if (walk.gradients.weight) {
    const size_t first = step.reads_as_previous ? index - 1 : index;
    const bool enters = first > 0 && steps_[first - 1].kind == OperatorKind::kCollective;
    own.input_bytes = enters ? steps_[first - 1].result_bytes[kWeightPass] : 0;
    Take(own.input_bytes);
    FinishWaiting(walk);
  }
  if (walk.gradients.input) {
    if (!walk.in_place) own.gradient_bytes = walk.gradient_bytes;
    // A later weight gradient will need the incoming gradient.
    if (!walk.gradients.weight && !walk.in_place && walk.on_stream) walk.keeps_stream = true;
    Take(step.result_bytes[kInputPass]);
    Touch(step.workspace_bytes[kInputPass]);
    walk.gradient_bytes = step.result_bytes[kInputPass];
    walk.on_stream = false;
  } else if (!walk.in_place) {
    own.gradient_bytes = step.result_bytes[kForward];
  }
  walk.in_place = false;
  if (walk.gradients.weight) walk.waiting = own;
}

// First repeats the forwards before it.
void Liveness::BackwardInPlace(size_t index, Walk& walk) {
  const Step& step = steps_[index];
  walk.in_place = true;
  if (!walk.gradients.input) return;
  for (size_t i = index; i > 0 && steps_[i - 1].repeats_forward; --i) {
    Take(steps_[i - 1].result_bytes[kForward]);
  }
  const int64_t gradients = step.result_bytes[kInputPass];
  Take(gradients);
  Touch(step.workspace_bytes[kInputPass]);
  Give(gradients + walk.gradient_bytes);
  walk.gradient_bytes = 0;
  walk.on_stream = false;
}

// On entry to a branch this makes the gradient of all tokens from the incoming one; on exit the
// waiting weight gradient runs alongside.
void Liveness::BackwardCollective(const Step& step, Walk& walk) {
  if (!walk.gradients.input) return;
  const int64_t result = step.result_bytes[kInputPass];
  if (result == 0) return;
  Take(result);
  FinishWaiting(walk);
  Give(walk.gradient_bytes);
  walk.gradient_bytes = result;
  walk.on_stream = false;
}

// The weight gradient behind it is computed first.
void Liveness::BackwardMove(const Step& step, Walk& walk) {
  FinishWaiting(walk);
  if (!walk.gradients.input) return;
  Take(step.result_bytes[kInputPass]);
  Touch(step.workspace_bytes[kInputPass]);
  Give(walk.gradient_bytes);
  walk.gradient_bytes = step.result_bytes[kInputPass];
  walk.on_stream = false;
}

// The gradients of the router and of the branches behind it are added to the norm's gradient.
void Liveness::BackwardRouter(const Step& step, Walk& walk) {
  if (walk.gradients.input) Touch(step.result_bytes[kInputPass]);
  if (walk.gradients.weight) {
    Touch(step.workspace_bytes[kWeightPass]);
    Give(step.freed_weight_bytes);
  }
  Give(walk.branch_bytes);
  walk.branch_bytes = 0;
}

void Liveness::EndBranch(Walk& walk) {
  FinishWaiting(walk);
  walk.branch_bytes += walk.gradient_bytes;
  walk.gradient_bytes = 0;
  walk.on_stream = true;
  walk.in_place = false;
}

void Liveness::BackwardStep(size_t index, Walk& walk) {
  const Step& step = steps_[index];
  if (step.moves_rows) {
    BackwardMove(step, walk);
  } else if (step.is_router) {
    BackwardRouter(step, walk);
  } else if (step.takes_place) {
    BackwardInPlace(index, walk);
  } else if (step.kind == OperatorKind::kMatmul) {
    BackwardProjection(index, walk);
  } else if (step.kind == OperatorKind::kCollective) {
    BackwardCollective(step, walk);
  } else if (step.repeats_forward && walk.gradients.input) {
    Give(step.result_bytes[kForward]);
  }
  if (walk.gradients.input) Give(step.freed_input_bytes);
  if (step.starts_branch) EndBranch(walk);
}

int64_t Liveness::Backward(const Part& part, const Gradients& gradients, int64_t gradient_bytes) {
  Walk walk = {.gradients = gradients, .stream_bytes = gradient_bytes, .waiting = {}};
  for (size_t i = part.end; i-- > part.begin;) {
    if (i == part.begin) FinishWaiting(walk);  // before the norm, which begins the part
    BackwardStep(i, walk);
  }
  if (gradients.input && !walk.keeps_stream) Give(walk.stream_bytes);
  return walk.gradient_bytes;
}

}  // namespace meshwright::planner
