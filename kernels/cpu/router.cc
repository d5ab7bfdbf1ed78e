#include <cmath>

#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

// An entry ranked by value, and among equals by index.
template <typename A>
struct Ranked {
  A value = 0;
  int64_t index = -1;
};

template <typename T>
Accumulator<T> Sigmoid(T logit) {
  return 1 / (1 + FastExp(-Widen(logit)));
}

// Over all experts: the maximum logit, and the sum of exponentials relative to it.
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

// Values by which experts are selected: scores plus biases, or logits if there are no biases, which
// rank like scores.
template <typename T>
class Choices {
  using A = Accumulator<T>;

 public:
  Choices(const RouterForward& args, const T* row_logits)
      : logits_(row_logits),
        bias_(static_cast<const A*>(args.selection_bias)),
        sigmoid_(args.score == RouterScore::kSigmoid) {
    if (bias_ != nullptr && !sigmoid_) softmax_ = SoftmaxOf(row_logits, args.experts);
  }

  bool biased() const { return bias_ != nullptr; }
  A operator()(int64_t expert) const {
    if (bias_ == nullptr) return Widen(logits_[expert]);
    const A score = sigmoid_ ? Sigmoid(logits_[expert])
                             : FastExp(Widen(logits_[expert]) - softmax_.max) / softmax_.sum;
    return score + bias_[expert];
  }

 private:
  const T* logits_;
  const A* bias_;
  const bool sigmoid_;
  Softmax<A> softmax_;
};

// The best of the values offered in order of index, the lowest index first among equals. NaN is
// never included.
template <typename A, int64_t kMost>
class Best {
 public:
  explicit Best(int64_t most) : most_(most) {}

  void Offer(A value, int64_t index) {
    if (std::isnan(value) || (count_ == most_ && !(value > items_[most_ - 1].value))) return;
    int64_t place = count_ == most_ ? most_ - 1 : count_++;
    for (; place > 0 && value > items_[place - 1].value; --place) items_[place] = items_[place - 1];
    items_[place] = {value, index};
  }

  int64_t count() const { return count_; }
  const Ranked<A>& operator[](int64_t place) const { return items_[place]; }

 private:
  const int64_t most_;
  int64_t count_ = 0;
  Ranked<A> items_[kMost];
};

// Returns the value that ranks a group: the sum of its best scores, or its best logit where one is
// enough.
template <typename T>
Accumulator<T> RankOfGroup(const RouterForward& a, const T* logits, const Choices<T>& choices,
                           const Accumulator<T>& max, int64_t group) {
  using A = Accumulator<T>;
  const int64_t size = a.experts / a.groups;
  Best<A, RouterForward::kMostGroupBest> best(a.group_best);
  for (int64_t i = group * size; i < (group + 1) * size; ++i) best.Offer(choices(i), i);
  if (a.group_best == 1) return best.count() > 0 ? best[0].value : A{0};
  A sum = 0;
  for (int64_t j = 0; j < best.count(); ++j) {
    if (choices.biased()) {
      sum += best[j].value;
    } else if (a.score == RouterScore::kSigmoid) {
      sum += Sigmoid(logits[best[j].index]);
    } else {
      sum += FastExp(best[j].value - max);
    }
  }
  return sum;
}

// `taken` says for each group whether its experts may be selected.
struct TakenGroups {
  bool taken[RouterForward::kMostGroups] = {};
};

template <typename T>
TakenGroups GroupsOf(const RouterForward& a, const T* logits, const Choices<T>& choices) {
  using A = Accumulator<T>;
  A max = Widen(logits[0]);
  for (int64_t i = 1; i < a.experts; ++i) max = Widen(logits[i]) > max ? Widen(logits[i]) : max;
  Best<A, RouterForward::kMostGroups> best(a.top_groups);
  for (int64_t group = 0; group < a.groups; ++group) {
    best.Offer(RankOfGroup(a, logits, choices, max, group), group);
  }
  TakenGroups groups;
  for (int64_t i = 0; i < best.count(); ++i) groups.taken[best[i].index] = true;
  return groups;
}

// NaN never leads to an expert index out of range.
template <typename T>
void Pick(const RouterForward& a, const T* logits, int32_t* picked) {
  using A = Accumulator<T>;
  const Choices<T> choices(a, logits);
  TakenGroups groups;
  if (a.groups > 1) groups = GroupsOf(a, logits, choices);
  const int64_t size = a.experts / a.groups;
  Best<A, RouterForward::kMostPicks> best(a.top_k);
  for (int64_t group = 0; group < a.groups; ++group) {
    if (a.groups > 1 && !groups.taken[group]) continue;
    for (int64_t i = group * size; i < (group + 1) * size; ++i) best.Offer(choices(i), i);
  }
  for (int64_t k = 0; k < a.top_k; ++k) {
    picked[k] = static_cast<int32_t>(k < best.count() ? best[k].index : k);
  }
}

// The scores of the selected experts.
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

// The part of the logits' gradient that every expert has, selected or not: through the softmax
// where top_k = 1, and from the router's losses.
template <typename T>
class OfAllExperts {
  using A = Accumulator<T>;

 public:
  // `through` is the sum over experts of score times its gradient, where scores are a softmax.
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

// Experts that were not selected have a gradient only through the softmax where top_k = 1, and from
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
    // dlogits may alias logits, which are read again for each expert.
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
