#include <cmath>

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

// What the group is ranked by: the sum of its best scores, or its best logit where one is enough.
template <typename T>
Accumulator<T> RankOfGroup(const RouterForward& a, const T* logits, const Accumulator<T>& max,
                           int64_t group) {
  using A = Accumulator<T>;
  const int64_t size = a.experts / a.groups;
  Ranked<A> previous;
  A sum = 0;
  for (int64_t j = 0; j < a.group_best; ++j) {
    Ranked<A> next;
    for (int64_t i = group * size; i < (group + 1) * size; ++i) {
      const A value = Widen(logits[i]);
      if (IsBehind(value, i, previous) && (next.index < 0 || value > next.value)) {
        next = {value, i};
      }
    }
    if (next.index < 0) break;
    previous = next;
    if (a.group_best == 1) return next.value;
    sum +=
        a.score == RouterScore::kSigmoid ? Sigmoid(logits[next.index]) : FastExp(next.value - max);
  }
  return sum;
}

template <typename A>
struct GroupRanks {
  A value[RouterForward::kMostGroups];
};

template <typename T>
GroupRanks<Accumulator<T>> RanksOfGroups(const RouterForward& a, const T* logits) {
  using A = Accumulator<T>;
  A max = Widen(logits[0]);
  for (int64_t i = 1; i < a.experts; ++i) max = Widen(logits[i]) > max ? Widen(logits[i]) : max;
  GroupRanks<A> ranks;
  for (int64_t group = 0; group < a.groups; ++group) {
    ranks.value[group] = RankOfGroup(a, logits, max, group);
  }
  return ranks;
}

// The last of the groups whose experts may be picked.
template <typename A>
Ranked<A> LastGroup(const RouterForward& a, const GroupRanks<A>& ranks) {
  Ranked<A> last;
  for (int64_t j = 0; j < a.top_groups; ++j) {
    Ranked<A> next;
    for (int64_t group = 0; group < a.groups; ++group) {
      const A rank = ranks.value[group];
      if (IsBehind(rank, group, last) && (next.index < 0 || rank > next.value)) {
        next = {rank, group};
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
  GroupRanks<A> ranks = {};
  if (a.groups > 1) ranks = RanksOfGroups(a, logits);
  const Ranked<A> last_group = a.groups > 1 ? LastGroup(a, ranks) : Ranked<A>();
  const int64_t size = a.experts / a.groups;
  Ranked<A> previous;
  for (int64_t k = 0; k < a.top_k; ++k) {
    Ranked<A> next;
    for (int64_t group = 0; group < a.groups; ++group) {
      if (a.groups > 1 && IsBehind(ranks.value[group], group, last_group)) continue;
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

// What every expert's logit gets, picked or not: through the softmax of a single score, and of the
// router's losses.
template <typename T>
class OfAllExperts {
  using A = Accumulator<T>;

 public:
  // `through` is the sum over experts of a score and its gradient, where scores are a softmax.
  OfAllExperts(const RouterBackward& args, const T* row_logits, int64_t row, A through)
      : a_(args), logits_(row_logits), softmax_(SoftmaxOf(row_logits, args.experts)) {
    through_ = through;
    log_sum_ = std::log(softmax_.sum) + softmax_.max;
    if (a_.losses.slots == nullptr) return;
    const int64_t sequence = (a_.losses.first_row + row) / a_.losses.sequence_rows;
    slots_ = static_cast<const A*>(a_.losses.slots) + sequence * a_.experts;
    if (sigmoid()) {
      sum_ = 0;
      for (int64_t i = 0; i < a_.experts; ++i) sum_ += Sigmoid(logits_[i]);
    }
    A mean = 0;
    for (int64_t i = 0; i < a_.experts; ++i) mean += Balance(i) * Score(i) / sum_;
    balance_mean_ = mean;
  }

  A Gradient(int64_t expert) const {
    const A score = Score(expert);
    A gradient = slots_ == nullptr ? A{0} : (Balance(expert) - balance_mean_) / sum_;
    gradient = sigmoid() ? gradient * score * (1 - score) : score * (gradient - through_);
    if (a_.losses.z_scale == 0.0) return gradient;
    return gradient + static_cast<A>(a_.losses.z_scale) * log_sum_ * Share(expert);
  }

 private:
  bool sigmoid() const { return a_.score == RouterScore::kSigmoid; }
  A Share(int64_t i) const { return FastExp(Widen(logits_[i]) - softmax_.max) / softmax_.sum; }
  A Score(int64_t i) const { return sigmoid() ? Sigmoid(logits_[i]) : Share(i); }
  A Balance(int64_t i) const { return static_cast<A>(a_.losses.scale) * slots_[i]; }

  const RouterBackward& a_;
  const T* logits_;
  const Softmax<A> softmax_;
  const A* slots_ = nullptr;  // of the row's sequence
  A through_ = 0;
  A log_sum_ = 0;
  A sum_ = 1;  // of the scores
  A balance_mean_ = 0;
};

// Experts that were not picked have a gradient only through the softmax of a single score, and of
// the router's losses.
template <typename T>
void BackwardRow(const RouterBackward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* logits = static_cast<const T*>(a.logits) + row * a.experts;
  const int32_t* picked = a.picked + row * a.top_k;
  const A* dweights = static_cast<const A*>(a.dweights) + row * a.top_k;
  T* dlogits = static_cast<T*>(a.dlogits) + row * a.experts;
  A scores[RouterForward::kMostPicks];
  PickedScores(a.score, a.experts, a.top_k, logits, picked, scores);
  A sum = 0;
  A dot = 0;
  for (int64_t k = 0; k < a.top_k; ++k) {
    sum += scores[k];
    dot += scores[k] * dweights[k];
  }
  A gradients[RouterForward::kMostPicks];
  for (int64_t k = 0; k < a.top_k; ++k) {
    gradients[k] =
        a.top_k > 1 ? scores[k] / sum * (dweights[k] - dot / sum) : scores[k] * dweights[k];
    if (a.score == RouterScore::kSigmoid) gradients[k] *= 1 - scores[k];
  }
  const bool through_all = a.top_k == 1 && a.score == RouterScore::kSoftmax;
  if (through_all || a.losses.any()) {
    // dlogits may be the logits, which are read once more for each expert.
    const OfAllExperts<T> all(a, logits, row, through_all ? dot : A{0});
    for (int64_t k = 0; k < a.top_k; ++k) gradients[k] += all.Gradient(picked[k]);
    for (int64_t i = 0; i < a.experts; ++i) Narrow(all.Gradient(i), dlogits[i]);
  } else {
    for (int64_t i = 0; i < a.experts; ++i) Narrow(A{0}, dlogits[i]);
  }
  for (int64_t k = 0; k < a.top_k; ++k) Narrow(gradients[k], dlogits[picked[k]]);
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
