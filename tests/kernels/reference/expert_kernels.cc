// Reference definitions of the operators of a mixture of experts.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/kernels/reference/elements.h"
#include "tests/kernels/reference/reference_kernels.h"

namespace meshwright::kernels {
namespace {

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

std::vector<double> Logits(ElementType type, const void* logits, int64_t row, int64_t experts) {
  std::vector<double> values;
  for (int64_t i = 0; i < experts; ++i) values.push_back(Get(type, logits, row * experts + i));
  return values;
}

std::vector<double> Scores(RouterScore score, const std::vector<double>& logits) {
  std::vector<double> scores;
  if (score == RouterScore::kSigmoid) {
    for (const double logit : logits) scores.push_back(Sigmoid(logit));
    return scores;
  }
  const double max = *std::max_element(logits.begin(), logits.end());
  for (const double logit : logits) scores.push_back(std::exp(logit - max));
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  for (double& value : scores) value /= sum;
  return scores;
}

// Returns the indices of the `count` largest, the lowest index first among equals.
std::vector<int64_t> Largest(const std::vector<double>& values, int64_t count) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t one, int64_t other) {
    return values[static_cast<size_t>(one)] > values[static_cast<size_t>(other)];
  });
  order.resize(static_cast<size_t>(count));
  return order;
}

// Values by which experts are selected: scores plus biases, or logits if there are no biases, since
// rounding can make scores of different logits equal.
std::vector<double> Choices(const RouterForward& a, const std::vector<double>& logits) {
  if (a.selection_bias == nullptr) return logits;
  std::vector<double> choices = Scores(a.score, logits);
  for (size_t i = 0; i < choices.size(); ++i) {
    choices[i] += GetAcc(a.type, a.selection_bias, static_cast<int64_t>(i));
  }
  return choices;
}

// Sets experts of groups that are not taken below all others.
void LeaveOtherGroupsOut(const RouterForward& a, const std::vector<double>& logits,
                         std::vector<double>& choices) {
  const int64_t size = a.experts / a.groups;
  // With group_best = 1 groups rank by logits, as softmax scores of different logits may be equal.
  const bool by_scores = a.group_best > 1 && a.selection_bias == nullptr;
  const std::vector<double> ranks = by_scores ? Scores(a.score, logits) : choices;
  std::vector<double> sums;
  for (int64_t group = 0; group < a.groups; ++group) {
    std::vector<double> values(ranks.begin() + group * size, ranks.begin() + (group + 1) * size);
    std::sort(values.begin(), values.end(), std::greater<>());
    sums.push_back(std::accumulate(values.begin(), values.begin() + a.group_best, 0.0));
  }
  const std::vector<int64_t> taken = Largest(sums, a.top_groups);
  for (int64_t i = 0; i < a.experts; ++i) {
    if (std::find(taken.begin(), taken.end(), i / size) == taken.end()) {
      choices[static_cast<size_t>(i)] = -INFINITY;
    }
  }
}

}  // namespace

void RunReference(const RouterForward& a) {
  for (int64_t row = 0; row < a.rows; ++row) {
    const std::vector<double> logits = Logits(a.type, a.logits, row, a.experts);
    if (a.picks) {
      std::vector<double> eligible = Choices(a, logits);
      LeaveOtherGroupsOut(a, logits, eligible);
      const std::vector<int64_t> picked = Largest(eligible, a.top_k);
      for (int64_t k = 0; k < a.top_k; ++k) {
        a.picked[row * a.top_k + k] = static_cast<int32_t>(picked[static_cast<size_t>(k)]);
      }
    }
    const std::vector<double> scores = Scores(a.score, logits);
    double sum = 0.0;
    for (int64_t k = 0; k < a.top_k; ++k) {
      sum += scores[static_cast<size_t>(a.picked[row * a.top_k + k])];
    }
    for (int64_t k = 0; k < a.top_k; ++k) {
      const double score = scores[static_cast<size_t>(a.picked[row * a.top_k + k])];
      SetAcc(a.type, a.weights, row * a.top_k + k, a.top_k > 1 ? score / sum : score);
    }
  }
}

namespace {

// Returns the gradient of a row's balance loss by its scores, through the division by their sum.
std::vector<double> BalanceGradient(const RouterBackward& a, int64_t row,
                                    const std::vector<double>& scores) {
  std::vector<double> gradient(scores.size());
  if (a.losses.slots == nullptr) return gradient;
  const int64_t sequence = (a.losses.first_row + row) / a.losses.sequence_rows;
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  double mean = 0.0;
  for (size_t i = 0; i < scores.size(); ++i) {
    gradient[i] = a.losses.scale *
                  GetAcc(a.type, a.losses.slots, sequence * a.experts + static_cast<int64_t>(i));
    mean += gradient[i] * scores[i] / sum;
  }
  for (double& value : gradient) value = (value - mean) / sum;
  return gradient;
}

double LogSumExp(const std::vector<double>& logits) {
  const double max = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const double logit : logits) sum += std::exp(logit - max);
  return max + std::log(sum);
}

}  // namespace

void RunReference(const RouterBackward& a) {
  for (int64_t row = 0; row < a.rows; ++row) {
    const std::vector<double> logits = Logits(a.type, a.logits, row, a.experts);
    const std::vector<double> scores = Scores(a.score, logits);
    double sum = 0.0;
    double dot = 0.0;  // of the weights and their gradients
    for (int64_t k = 0; k < a.top_k; ++k) {
      const double score = scores[static_cast<size_t>(a.picked[row * a.top_k + k])];
      sum += score;
      dot += score * GetAcc(a.type, a.dweights, row * a.top_k + k);
    }
    std::vector<double> dscores = BalanceGradient(a, row, scores);
    for (int64_t k = 0; k < a.top_k; ++k) {
      const double dweight = GetAcc(a.type, a.dweights, row * a.top_k + k);
      dscores[static_cast<size_t>(a.picked[row * a.top_k + k])] +=
          a.top_k > 1 ? (dweight - dot / sum) / sum : dweight;
    }
    double through = 0.0;  // through the softmax
    for (size_t i = 0; i < scores.size(); ++i) through += scores[i] * dscores[i];
    const double log_sum = LogSumExp(logits);
    for (int64_t i = 0; i < a.experts; ++i) {
      const double score = scores[static_cast<size_t>(i)];
      const double dscore = dscores[static_cast<size_t>(i)];
      const double share = std::exp(logits[static_cast<size_t>(i)] - log_sum);
      Set(a.type, a.dlogits, row * a.experts + i,
          a.losses.z_scale * log_sum * share + (a.score == RouterScore::kSoftmax
                                                    ? score * (dscore - through)
                                                    : dscore * score * (1.0 - score)));
    }
  }
}

void RunReference(const GatherRows& a) {
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t i = 0; i < a.width; ++i) {
      const int64_t from = a.index[row] / a.divisor;
      Set(a.type, a.y, row * a.width + i,
          a.index[row] < 0 ? 0.0 : Get(a.type, a.x, from * a.width + i));
    }
  }
}

void RunReference(const ScatterRows& a) {
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t i = 0; i < a.width; ++i) {
      Set(a.type, a.y, a.index[row] * a.width + i, Get(a.type, a.x, row * a.width + i));
    }
  }
}

void RunReference(const SumRows& a) {
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t i = 0; i < a.width; ++i) {
      double sum = 0.0;
      for (int64_t j = 0; j < a.terms; ++j) {
        const int64_t from = a.index[row * a.terms + j];
        if (from >= 0) sum += Get(a.type, a.x, from * a.width + i);
      }
      Set(a.type, a.y, row * a.width + i, sum);
    }
  }
}

void RunReference(const ExpertSwigluForward& a) {
  const SwigluForm& form = a.form;
  for (int64_t row = 0; row < a.rows; ++row) {
    const double weight = GetAcc(a.type, a.weights, row);
    for (int64_t i = 0; i < a.width; ++i) {
      const int64_t at = row * 2 * a.width + i;
      const double gate = std::min(Get(a.type, a.gate_up, at), form.limit);
      const double up = std::clamp(Get(a.type, a.gate_up, at + a.width), -form.limit, form.limit);
      Set(a.type, a.product, row * a.width + i,
          gate * Sigmoid(form.slope * gate) * (up + form.offset) * weight);
    }
  }
}

void RunReference(const ExpertSwigluBackward& a) {
  const SwigluForm& form = a.form;
  for (int64_t row = 0; row < a.rows; ++row) {
    const double weight = GetAcc(a.type, a.weights, row);
    double dweight = 0.0;
    for (int64_t i = 0; i < a.width; ++i) {
      const int64_t at = row * 2 * a.width + i;
      const double whole_gate = Get(a.type, a.gate_up, at);
      const double whole_up = Get(a.type, a.gate_up, at + a.width);
      const double gate = std::min(whole_gate, form.limit);
      const double up = std::clamp(whole_up, -form.limit, form.limit) + form.offset;
      const double d = Get(a.type, a.dproduct, row * a.width + i);
      const double sigmoid = Sigmoid(form.slope * gate);
      dweight += d * gate * sigmoid * up;
      const double dgate = d * weight * up * sigmoid * (1.0 + form.slope * gate * (1.0 - sigmoid));
      Set(a.type, a.gate_up, at, whole_gate > form.limit ? 0.0 : dgate);
      Set(a.type, a.gate_up, at + a.width,
          std::abs(whole_up) > form.limit ? 0.0 : d * weight * gate * sigmoid);
    }
    SetAcc(a.type, a.weights, row, dweight);
  }
}

void RunReference(const WeighedBias& a) {
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t i = 0; i < a.width; ++i) {
      const int64_t at = row * a.width + i;
      Set(a.type, a.y, at,
          Get(a.type, a.y, at) + GetAcc(a.type, a.weights, row) * Get(a.type, a.bias, i));
    }
  }
}

void RunReference(const WeighedBiasBackward& a) {
  for (int64_t row = 0; row < a.rows; ++row) {
    double dot = 0.0;
    for (int64_t i = 0; i < a.width; ++i) {
      dot += Get(a.type, a.dy, row * a.width + i) * Get(a.type, a.bias, i);
    }
    AddAcc(a.type, a.dweights, row, dot);
  }
}

}  // namespace meshwright::kernels
