#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

// Something that is ranked by a value, and among equals by its index.
template <typename A>
struct Ranked {
  A value = 0;
  int64_t index = -1;
};

// Whether something of that value and index comes behind `previous`, if there is one.
template <typename A>
bool IsBehind(A value, int64_t index, const Ranked<A>& previous) {
  if (previous.index < 0) return true;
  return value < previous.value || (value == previous.value && index > previous.index);
}

template <typename T>
Ranked<Accumulator<T>> BestOfGroup(const RouterForward& a, const T* logits, int64_t group) {
  const int64_t size = a.experts / a.groups;
  Ranked<Accumulator<T>> best;
  for (int64_t i = group * size; i < (group + 1) * size; ++i) {
    if (best.index < 0 || Widen(logits[i]) > best.value) best = {Widen(logits[i]), i};
  }
  return best;
}

// The last of the groups whose experts may be picked.
template <typename T>
Ranked<Accumulator<T>> LastGroup(const RouterForward& a, const T* logits) {
  using A = Accumulator<T>;
  Ranked<A> last;
  for (int64_t j = 0; j < a.top_groups; ++j) {
    Ranked<A> next;
    for (int64_t group = 0; group < a.groups; ++group) {
      const A best = BestOfGroup(a, logits, group).value;
      if (IsBehind(best, group, last) && (next.index < 0 || best > next.value)) {
        next = {best, group};
      }
    }
    if (next.index >= 0) last = next;
  }
  return last;
}

// Not a number is picked last, so that it cannot name an expert that is not there.
template <typename T>
void Pick(const RouterForward& a, const T* logits, int32_t* picked) {
  using A = Accumulator<T>;
  const Ranked<A> last_group = a.groups > 1 ? LastGroup(a, logits) : Ranked<A>();
  const int64_t size = a.experts / a.groups;
  Ranked<A> previous;
  for (int64_t k = 0; k < a.top_k; ++k) {
    Ranked<A> next;
    for (int64_t group = 0; group < a.groups; ++group) {
      if (a.groups > 1 && IsBehind(BestOfGroup(a, logits, group).value, group, last_group)) {
        continue;
      }
      for (int64_t i = group * size; i < (group + 1) * size; ++i) {
        const A value = Widen(logits[i]);
        if (IsBehind(value, i, previous) && (next.index < 0 || value > next.value)) {
          next = {value, i};
        }
      }
    }
    picked[k] = static_cast<int32_t>(next.index < 0 ? k : next.index);
    if (next.index >= 0) previous = next;
  }
}

template <typename T>
Accumulator<T> Sigmoid(T logit) {
  return 1 / (1 + FastExp(-Widen(logit)));
}

// Of all experts: what a softmax is relative to, and the sum of what it divides.
template <typename A>
struct Softmax {
  A max = 0;
  A sum = 0;
};

template <typename T>
Softmax<Accumulator<T>> SoftmaxOf(const T* logits, int64_t experts) {
  Softmax<Accumulator<T>> softmax = {.max = Widen(logits[0])};
  for (int64_t i = 1; i < experts; ++i) {
    if (Widen(logits[i]) > softmax.max) softmax.max = Widen(logits[i]);
  }
  for (int64_t i = 0; i < experts; ++i) softmax.sum += FastExp(Widen(logits[i]) - softmax.max);
  return softmax;
}

// The scores of what was picked.
template <typename T>
void PickedScores(RouterScore score, int64_t experts, int64_t top_k, const T* logits,
                  const int32_t* picked, Accumulator<T>* scores) {
  if (score == RouterScore::kSigmoid) {
    for (int64_t k = 0; k < top_k; ++k) scores[k] = Sigmoid(logits[picked[k]]);
    return;
  }
  const Softmax<Accumulator<T>> softmax = SoftmaxOf(logits, experts);
  for (int64_t k = 0; k < top_k; ++k) {
    scores[k] = FastExp(Widen(logits[picked[k]]) - softmax.max) / softmax.sum;
  }
}

template <typename T>
void ForwardRow(const RouterForward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* logits = static_cast<const T*>(a.logits) + row * a.experts;
  int32_t* picked = a.picked + row * a.top_k;
  A* weights = static_cast<A*>(a.weights) + row * a.top_k;
  if (a.picks) Pick(a, logits, picked);
  PickedScores(a.score, a.experts, a.top_k, logits, picked, weights);
  if (a.top_k == 1) return;
  A sum = 0;
  for (int64_t k = 0; k < a.top_k; ++k) sum += weights[k];
  for (int64_t k = 0; k < a.top_k; ++k) weights[k] /= sum;
}

// Experts that were not picked have a gradient only through the softmax of a single score.
template <typename T>
void BackwardRow(const RouterBackward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* logits = static_cast<const T*>(a.logits) + row * a.experts;
  const int32_t* picked = a.picked + row * a.top_k;
  const A* dweights = static_cast<const A*>(a.dweights) + row * a.top_k;
  T* dlogits = static_cast<T*>(a.dlogits) + row * a.experts;
  A scores[RouterForward::kMostPicks];
  PickedScores(a.score, a.experts, a.top_k, logits, picked, scores);
  if (a.top_k == 1 && a.score == RouterScore::kSoftmax) {
    const Softmax<A> softmax = SoftmaxOf(logits, a.experts);
    const A through = scores[0] * dweights[0];
    for (int64_t i = 0; i < a.experts; ++i) {
      const A score = FastExp(Widen(logits[i]) - softmax.max) / softmax.sum;
      Narrow(score * ((i == picked[0] ? dweights[0] : 0) - through), dlogits[i]);
    }
    return;
  }
  A sum = 0;
  A dot = 0;
  for (int64_t k = 0; k < a.top_k; ++k) {
    sum += scores[k];
    dot += scores[k] * dweights[k];
  }
  for (int64_t i = 0; i < a.experts; ++i) Narrow(A{0}, dlogits[i]);
  for (int64_t k = 0; k < a.top_k; ++k) {
    A gradient =
        a.top_k > 1 ? scores[k] / sum * (dweights[k] - dot / sum) : scores[k] * dweights[k];
    if (a.score == RouterScore::kSigmoid) gradient *= 1 - scores[k];
    Narrow(gradient, dlogits[picked[k]]);
  }
}

}  // namespace

void Run(const RouterForward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.top_k * args.experts, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) ForwardRow<decltype(element)>(args, row);
    });
  });
}

void Run(const RouterBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.experts, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) BackwardRow<decltype(element)>(args, row);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
