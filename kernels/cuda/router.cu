#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

constexpr int kWarpsPerBlock = kThreads / kWarp;
constexpr int kNone = -1;

// Something that is ranked by a value, and among equals by its index.
template <typename A>
struct Ranked {
  A value;
  int index;
};

// Whether something of that value and index comes behind `previous`, if there is one.
template <typename A>
__device__ bool IsBehind(A value, int index, const Ranked<A>& previous) {
  if (previous.index == kNone) return true;
  return value < previous.value || (value == previous.value && index > previous.index);
}

// The first of the warp's, on every thread.
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

// The groups whose experts may be picked, a bit each. A lane has the best of a group.
template <typename T>
__device__ unsigned int TakenGroups(const RouterForward& a, const T* logits) {
  using A = Accumulator<T>;
  const int lane = threadIdx.x % kWarp;
  const int size = static_cast<int>(a.experts) / static_cast<int>(a.groups);
  Ranked<A> best = {0, kNone};
  if (lane < a.groups) {
    for (int i = lane * size; i < (lane + 1) * size; ++i) {
      if (best.index == kNone || Widen(logits[i]) > best.value) best = {Widen(logits[i]), lane};
    }
  }
  unsigned int taken = 0;
  for (int j = 0; j < a.top_groups; ++j) {
    const bool is_taken = (taken >> lane & 1u) != 0;
    const Ranked<A> next = FirstOfWarp(is_taken ? Ranked<A>{0, kNone} : best);
    if (next.index != kNone) taken |= 1u << next.index;
  }
  return taken;
}

// Not a number is picked last, so that it cannot name an expert that is not there.
template <typename T>
__device__ void Pick(const RouterForward& a, const T* logits, int32_t* picked) {
  using A = Accumulator<T>;
  const int lane = threadIdx.x % kWarp;
  const int size = static_cast<int>(a.experts) / static_cast<int>(a.groups);
  const unsigned int taken = a.groups > 1 ? TakenGroups(a, logits) : ~0u;
  Ranked<A> previous = {0, kNone};
  for (int k = 0; k < a.top_k; ++k) {
    Ranked<A> own = {0, kNone};
    for (int i = lane; i < a.experts; i += kWarp) {
      if (a.groups > 1 && (taken >> (i / size) & 1u) == 0) continue;
      const A value = Widen(logits[i]);
      if (IsBehind(value, i, previous) && (own.index == kNone || value > own.value)) {
        own = {value, i};
      }
    }
    const Ranked<A> next = FirstOfWarp(own);
    if (lane == 0) picked[k] = next.index == kNone ? k : next.index;
    if (next.index != kNone) previous = next;
  }
}

template <typename A>
__device__ A WarpMax(A value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    const A other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = other > value ? other : value;
  }
  return value;
}

// The scores of all experts are exp(logit - max) / sum, or sigmoids.
template <typename T>
struct Scores {
  using A = Accumulator<T>;

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

  __device__ A Of(int64_t expert) const {
    const A logit = Widen(logits[expert]);
    return sigmoid ? FastReciprocal(1 + FastExp(-logit)) : FastExp(logit - max) / sum;
  }

  bool sigmoid;
  const T* logits;
  A max = 0;
  A sum = 0;
};

// A warp takes a token.
template <typename T>
__global__ void ForwardKernel(RouterForward a) {
  using A = Accumulator<T>;
  const int lane = threadIdx.x % kWarp;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / kWarp;
       row < a.rows; row += static_cast<int64_t>(gridDim.x) * kWarpsPerBlock) {
    const T* logits = static_cast<const T*>(a.logits) + row * a.experts;
    int32_t* picked = a.picked + row * a.top_k;
    if (a.picks) Pick(a, logits, picked);
    const Scores<T> scores(a.score, logits, a.experts);
    __syncwarp();
    const A own = lane < a.top_k ? scores.Of(picked[lane]) : A{0};
    const A sum = WarpSum(own);
    if (lane < a.top_k) {
      static_cast<A*>(a.weights)[row * a.top_k + lane] = a.top_k > 1 ? own / sum : own;
    }
  }
}

// A lane has a slot of the token. Experts that were not picked have a gradient only through the
// softmax of a single score.
template <typename T>
__global__ void BackwardKernel(RouterBackward a) {
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
    if (through_all) gradient -= score * dot;
    for (int64_t i = lane; i < a.experts; i += kWarp) {
      Narrow(through_all ? -scores.Of(i) * dot : A{0}, dlogits[i]);
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
    Start(BackwardKernel<decltype(element)>, BlocksForTokens(args.rows), 0, stream, args);
  });
}

}  // namespace meshwright::kernels::cuda
