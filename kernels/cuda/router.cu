#include "kernels/cuda/fast_divide.h"
#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

constexpr int kWarpsPerBlock = kThreads / kWarp;
constexpr int kNone = -1;

// An entry ranked by value, and among equals by index.
template <typename A>
struct Ranked {
  A value;
  int index;
};

// Returns whether an entry of that value and index ranks after `previous`, if there is one.
template <typename A>
__device__ bool IsBehind(A value, int index, const Ranked<A>& previous) {
  if (previous.index == kNone) return true;
  return value < previous.value || (value == previous.value && index > previous.index);
}

// Returns the warp's first entry to every thread.
template <typename A>
__device__ Ranked<A> FirstOfWarp(Ranked<A> own) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    const Ranked<A> other = {__shfl_xor_sync(0xffffffffu, own.value, offset),
                             __shfl_xor_sync(0xffffffffu, own.index, offset)};
    if (other.index == kNone) continue;
    if (own.index == kNone || IsBehind(own.value, own.index, other)) own = other;
  }
  return own;
}

template <typename A>
__device__ A WarpMax(A value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    const A other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = other > value ? other : value;
  }
  return value;
}

// The scores of all experts: exp(logit - max) / sum, or sigmoids.
template <typename T>
struct Scores {
  using A = Accumulator<T>;

  __device__ Scores() : sigmoid(false), logits(nullptr) {}
  __device__ Scores(RouterScore score, const T* row, int64_t experts)
      : sigmoid(score == RouterScore::kSigmoid), logits(row) {
    if (sigmoid) return;
    const int lane = threadIdx.x % kWarp;
    max = Widen(row[0]);
    for (int64_t i = lane; i < experts; i += kWarp) {
      if (Widen(row[i]) > max) max = Widen(row[i]);
    }
    max = WarpMax(max);
    for (int64_t i = lane; i < experts; i += kWarp) sum += FastExp(Widen(row[i]) - max);
    sum = WarpSum(sum);
  }

  __device__ A Undivided(int64_t expert) const {
    const A logit = Widen(logits[expert]);
    return sigmoid ? FastReciprocal(1 + FastExp(-logit)) : FastExp(logit - max);
  }
  __device__ A Of(int64_t expert) const {
    return sigmoid ? Undivided(expert) : Undivided(expert) / sum;
  }

  bool sigmoid;
  const T* logits;
  A max = 0;
  A sum = 0;
};

// Returns the value by which an expert is selected: score plus bias, or its logit if there are no
// biases, which ranks like the score.
template <typename T>
__device__ Accumulator<T> Choice(const RouterForward& a, const Scores<T>& scores, int64_t expert) {
  using A = Accumulator<T>;
  if (a.selection_bias == nullptr) return Widen(scores.logits[expert]);
  return scores.Of(expert) + static_cast<const A*>(a.selection_bias)[expert];
}

// Returns the entry that ranks a group: the sum of its best scores, or its best logit where one is
// enough. Softmax scores are left undivided where no bias is added.
template <typename T>
__device__ Ranked<Accumulator<T>> RankOfGroup(const RouterForward& a, const Scores<T>& scores,
                                              int group) {
  using A = Accumulator<T>;
  const int size = static_cast<int>(a.experts) / static_cast<int>(a.groups);
  Ranked<A> previous = {0, kNone};
  A sum = 0;
  for (int j = 0; j < a.group_best; ++j) {
    Ranked<A> next = {0, kNone};
    for (int i = group * size; i < (group + 1) * size; ++i) {
      const A value = Choice(a, scores, i);
      if (IsBehind(value, i, previous) && (next.index == kNone || value > next.value)) {
        next = {value, i};
      }
    }
    if (next.index == kNone) return {sum, previous.index == kNone ? kNone : group};
    previous = next;
    const bool by_choice = a.group_best == 1 || a.selection_bias != nullptr;
    sum += by_choice ? next.value : scores.Undivided(next.index);
  }
  return {sum, group};
}

// Returns the groups whose experts may be selected, one bit each. A lane has one group.
template <typename T>
__device__ unsigned int TakenGroups(const RouterForward& a, const Scores<T>& scores) {
  using A = Accumulator<T>;
  const int lane = threadIdx.x % kWarp;
  Ranked<A> own = {0, kNone};
  if (lane < a.groups) own = RankOfGroup(a, scores, lane);
  unsigned int taken = 0;
  for (int j = 0; j < a.top_groups; ++j) {
    const bool is_taken = (taken >> lane & 1u) != 0;
    const Ranked<A> next = FirstOfWarp(is_taken ? Ranked<A>{0, kNone} : own);
    if (next.index != kNone) taken |= 1u << next.index;
  }
  return taken;
}

// NaN is selected last, so that it can't lead to an expert index out of range.
template <typename T>
__device__ void Pick(const RouterForward& a, const Scores<T>& scores, int32_t* picked) {
  using A = Accumulator<T>;
  const int lane = threadIdx.x % kWarp;
  const int size = static_cast<int>(a.experts) / static_cast<int>(a.groups);
  const unsigned int taken = a.groups > 1 ? TakenGroups(a, scores) : ~0u;
  Ranked<A> previous = {0, kNone};
  for (int k = 0; k < a.top_k; ++k) {
    Ranked<A> own = {0, kNone};
    for (int i = lane; i < a.experts; i += kWarp) {
      if (a.groups > 1 && (taken >> (i / size) & 1u) == 0) continue;
      const A value = Choice(a, scores, i);
      if (IsBehind(value, i, previous) && (own.index == kNone || value > own.value)) {
        own = {value, i};
      }
    }
    const Ranked<A> next = FirstOfWarp(own);
    if (lane == 0) picked[k] = next.index == kNone ? k : next.index;
    if (next.index != kNone) previous = next;
  }
}

// One warp per token.
template <typename T>
__global__ void ForwardKernel(RouterForward a) {
  using A = Accumulator<T>;
  const int lane = threadIdx.x % kWarp;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / kWarp;
       row < a.rows; row += static_cast<int64_t>(gridDim.x) * kWarpsPerBlock) {
    const T* logits = static_cast<const T*>(a.logits) + row * a.experts;
    int32_t* picked = a.picked + row * a.top_k;
    const Scores<T> scores(a.score, logits, a.experts);
    if (a.picks) Pick(a, scores, picked);
    __syncwarp();
    const A own = lane < a.top_k ? scores.Of(picked[lane]) : A{0};
    const A sum = WarpSum(own);
    if (lane < a.top_k) {
      static_cast<A*>(a.weights)[row * a.top_k + lane] = a.top_k > 1 ? own / sum : own;
    }
  }
}

// The part of the logits' gradient that every expert has, selected or not: through the softmax
// where top_k = 1, and from the router's losses. All lanes of a warp compute it together.
template <typename T>
class OfAllExperts {
  using A = Accumulator<T>;

 public:
  // `through` is the sum over experts of score times its gradient, where scores are a softmax.
  __device__ OfAllExperts(const RouterBackward& args, const Scores<T>& row_scores,
                          FastDivide sequence_rows, int64_t row, A through)
      : scores_(row_scores),
        scale_(static_cast<A>(args.losses.scale)),
        z_scale_(static_cast<A>(args.losses.z_scale)),
        through_(through) {
    const int lane = threadIdx.x % kWarp;
    if (z_scale_ != 0) {
      softmax_ = Scores<T>(RouterScore::kSoftmax, scores_.logits, args.experts);
      log_sum_ = Log(softmax_.sum) + softmax_.max;
    }
    if (args.losses.slots == nullptr) return;
    const uint32_t sequence =
        sequence_rows.Quotient(static_cast<uint32_t>(args.losses.first_row + row));
    slots_ = static_cast<const A*>(args.losses.slots) + sequence * args.experts;
    if (scores_.sigmoid) {
      A own = 0;
      for (int64_t i = lane; i < args.experts; i += kWarp) own += scores_.Of(i);
      sum_ = WarpSum(own);
    }
    A own = 0;
    for (int64_t i = lane; i < args.experts; i += kWarp) own += Balance(i) * scores_.Of(i) / sum_;
    balance_mean_ = WarpSum(own);
  }

  __device__ A Gradient(int64_t expert) const {
    const A score = scores_.Of(expert);
    A gradient = slots_ == nullptr ? A{0} : (Balance(expert) - balance_mean_) / sum_;
    gradient = scores_.sigmoid ? gradient * score * (1 - score) : score * (gradient - through_);
    return z_scale_ != 0 ? gradient + z_scale_ * log_sum_ * softmax_.Of(expert) : gradient;
  }

 private:
  __device__ static float Log(float value) { return logf(value); }
  __device__ static double Log(double value) { return log(value); }
  __device__ A Balance(int64_t i) const { return scale_ * slots_[i]; }

  const Scores<T> scores_;
  const A scale_;
  const A z_scale_;
  const A through_;
  Scores<T> softmax_ = {};
  const A* slots_ = nullptr;  // of the row's sequence
  A log_sum_ = 0;
  A sum_ = 1;  // of the scores
  A balance_mean_ = 0;
};

// A lane has a slot of the token. Experts that were not selected have a gradient only through the
// softmax where top_k = 1, and from the router's losses.
template <typename T>
__global__ void BackwardKernel(RouterBackward a, FastDivide sequence_rows) {
  using A = Accumulator<T>;
  const int lane = threadIdx.x % kWarp;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / kWarp;
       row < a.rows; row += static_cast<int64_t>(gridDim.x) * kWarpsPerBlock) {
    const T* logits = static_cast<const T*>(a.logits) + row * a.experts;
    T* dlogits = static_cast<T*>(a.dlogits) + row * a.experts;
    const Scores<T> scores(a.score, logits, a.experts);
    const bool has_slot = lane < a.top_k;
    const int32_t expert = has_slot ? a.picked[row * a.top_k + lane] : 0;
    const A score = has_slot ? scores.Of(expert) : A{0};
    const A dweight = has_slot ? static_cast<const A*>(a.dweights)[row * a.top_k + lane] : A{0};
    const A sum = WarpSum(score);
    const A dot = WarpSum(score * dweight);
    const bool through_all = a.top_k == 1 && !scores.sigmoid;
    A gradient = a.top_k > 1 ? score / sum * (dweight - dot / sum) : score * dweight;
    if (scores.sigmoid) gradient *= 1 - score;
    if (through_all || a.losses.any()) {
      // dlogits may alias logits, which are read again for each expert.
      const OfAllExperts<T> all(a, scores, sequence_rows, row, through_all ? dot : A{0});
      if (has_slot) gradient += all.Gradient(expert);
      __syncwarp();
      for (int64_t i = lane; i < a.experts; i += kWarp) Narrow(all.Gradient(i), dlogits[i]);
    } else {
      for (int64_t i = lane; i < a.experts; i += kWarp) Narrow(A{0}, dlogits[i]);
    }
    __syncwarp();
    if (has_slot) Narrow(gradient, dlogits[expert]);
  }
}

unsigned int BlocksForTokens(int64_t rows) {
  return BlocksForRows((rows + kWarpsPerBlock - 1) / kWarpsPerBlock);
}

}  // namespace

void Launch(const RouterForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    Start(ForwardKernel<decltype(element)>, BlocksForTokens(args.rows), 0, stream, args);
  });
}

void Launch(const RouterBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    Start(BackwardKernel<decltype(element)>, BlocksForTokens(args.rows), 0, stream, args,
          FastDivide(args.losses.slots == nullptr ? 1 : args.losses.sequence_rows));
  });
}

}  // namespace meshwright::kernels::cuda
