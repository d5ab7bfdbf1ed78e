// The operators' definitions: scalar loops in double precision, no attempt at speed.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/kernels.h"

namespace meshwright::kernels {
namespace {

double Get(ElementType type, const void* data, int64_t index) {
  if (type == ElementType::kFp32) return static_cast<const float*>(data)[index];
  return ToFloat(static_cast<const Bf16*>(data)[index]);
}

void Set(ElementType type, void* data, int64_t index, double value) {
  if (type == ElementType::kFp32) {
    static_cast<float*>(data)[index] = static_cast<float>(value);
  } else {
    FromFloat(static_cast<float>(value), static_cast<Bf16*>(data)[index]);
  }
}

class ReferenceKernels final : public Kernels {
 public:
  void Run(const RmsNormForward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      double squares = 0.0;
      for (int64_t i = 0; i < a.width; ++i) {
        squares += std::pow(Get(a.type, a.x, row * a.width + i), 2);
      }
      const double rstd =
          1.0 / std::sqrt(squares / static_cast<double>(a.width) + static_cast<double>(a.epsilon));
      a.rstd[row] = static_cast<float>(rstd);
      for (int64_t i = 0; i < a.width; ++i) {
        const int64_t at = row * a.width + i;
        Set(a.type, a.y, at, Get(a.type, a.x, at) * rstd * Get(a.type, a.weight, i));
      }
    }
  }

  void Run(const RmsNormBackward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      const double rstd = a.rstd[row];
      double dot = 0.0;
      std::vector<double> dy(static_cast<size_t>(a.width));
      for (int64_t i = 0; i < a.width; ++i) {
        const int64_t at = row * a.width + i;
        dy[i] = Get(a.type, a.dy, at);
        dot += dy[i] * Get(a.type, a.weight, i) * Get(a.type, a.x, at);
      }
      for (int64_t i = 0; i < a.width; ++i) {
        const int64_t at = row * a.width + i;
        const double x = Get(a.type, a.x, at);
        const double through = rstd * (dy[i] * Get(a.type, a.weight, i) -
                                       x * dot * rstd * rstd / static_cast<double>(a.width));
        const double residual =
            a.residual_gradient == nullptr ? 0.0 : Get(a.type, a.residual_gradient, at);
        if (a.weight_gradient != nullptr) {
          a.weight_gradient[i] += static_cast<float>(dy[i] * x * rstd);
        }
        Set(a.type, a.dx, at, residual + through);
      }
    }
  }

  void Run(const SwigluForward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t i = 0; i < a.width; ++i) {
        const double gate = Get(a.type, a.gate_up, row * 2 * a.width + i);
        const double up = Get(a.type, a.gate_up, row * 2 * a.width + a.width + i);
        Set(a.type, a.product, row * a.width + i, gate / (1.0 + std::exp(-gate)) * up);
      }
    }
  }

  void Run(const SwigluBackward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t i = 0; i < a.width; ++i) {
        const int64_t at = row * 2 * a.width + i;
        const double gate = Get(a.type, a.gate_up, at);
        const double up = Get(a.type, a.gate_up, at + a.width);
        const double d = Get(a.type, a.dproduct, row * a.width + i);
        const double sigmoid = 1.0 / (1.0 + std::exp(-gate));
        Set(a.type, a.gate_up, at, d * up * sigmoid * (1.0 + gate * (1.0 - sigmoid)));
        Set(a.type, a.gate_up, at + a.width, d * gate * sigmoid);
      }
    }
  }

  void Run(const Rope& a) const override {
    const int64_t half = a.head_dim / 2;
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t head = 0; head < a.heads; ++head) {
        for (int64_t i = 0; i < half; ++i) {
          const int64_t angle = row % a.seq_len * half + i;
          const double cosine = a.cosine[angle];
          const double sine = a.inverse ? -a.sine[angle] : a.sine[angle];
          const int64_t from = row * a.x_stride + head * a.x_head_stride + i;
          const int64_t to = row * a.y_stride + head * a.y_head_stride + i;
          const double first = Get(a.type, a.x, from);
          const double second = Get(a.type, a.x, from + half);
          Set(a.type, a.y, to, first * cosine - second * sine);
          Set(a.type, a.y, to + half, second * cosine + first * sine);
        }
      }
    }
  }

  void Run(const CrossEntropyStatistics& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      double max = Get(a.type, a.logits, row * a.width);
      for (int64_t i = 1; i < a.width; ++i) {
        max = std::max(max, Get(a.type, a.logits, row * a.width + i));
      }
      double sum = 0.0;
      for (int64_t i = 0; i < a.width; ++i) {
        sum += std::exp(Get(a.type, a.logits, row * a.width + i) - max);
      }
      const int64_t target = a.targets[row] - a.vocab_begin;
      const bool here = target >= 0 && target < a.width;
      a.local_max[row] = static_cast<float>(max);
      a.local_sum[row] = static_cast<float>(sum);
      a.target_logit[row] =
          here ? static_cast<float>(Get(a.type, a.logits, row * a.width + target)) : 0.0f;
    }
  }

  void Run(const CrossEntropyRescale& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      a.local_sum[row] *= std::exp(a.local_max[row] - a.global_max[row]);
    }
  }

  void Run(const CrossEntropyLoss& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      a.max_to_log_sum_exp[row] += std::log(a.sum[row]);
      *a.loss_sum +=
          static_cast<double>(a.max_to_log_sum_exp[row]) - static_cast<double>(a.target_logit[row]);
    }
  }

  void Run(const CrossEntropyBackward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t i = 0; i < a.width; ++i) {
        const int64_t at = row * a.width + i;
        const double hit = a.targets[row] == a.vocab_begin + i ? 1.0 : 0.0;
        const double softmax =
            std::exp(Get(a.type, a.logits, at) - static_cast<double>(a.log_sum_exp[row]));
        Set(a.type, a.logits, at, (softmax - hit) * static_cast<double>(a.scale));
      }
    }
  }

  void Run(const EmbeddingForward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      const int64_t token = a.tokens[row] - a.vocab_begin;
      const bool here = token >= 0 && token < a.vocab_count;
      for (int64_t i = 0; i < a.width; ++i) {
        Set(a.type, a.y, row * a.width + i, here ? Get(a.type, a.table, token * a.width + i) : 0.0);
      }
    }
  }

  void Run(const EmbeddingBackward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      const int64_t token = a.tokens[row] - a.vocab_begin;
      if (token < 0 || token >= a.vocab_count) continue;
      for (int64_t i = 0; i < a.width; ++i) {
        a.table_gradient[token * a.width + i] +=
            static_cast<float>(Get(a.type, a.dy, row * a.width + i));
      }
    }
  }

  void Run(const Accumulate& a) const override {
    for (int64_t i = 0; i < a.count; ++i) {
      a.target[i] += static_cast<float>(Get(a.type, a.source, i));
    }
  }

  void Run(const AdamW& a) const override {
    const auto step = static_cast<double>(a.step);
    const double beta1 = a.beta1;
    const double beta2 = a.beta2;
    const double rate = a.learning_rate;
    for (int64_t i = 0; i < a.count; ++i) {
      const double gradient = a.gradient[i];
      const double m = beta1 * a.first_moment[i] + (1.0 - beta1) * gradient;
      const double v = beta2 * a.second_moment[i] + (1.0 - beta2) * gradient * gradient;
      a.first_moment[i] = static_cast<float>(m);
      a.second_moment[i] = static_cast<float>(v);
      const double unbiased_m = m / (1.0 - std::pow(beta1, step));
      const double unbiased_v = v / (1.0 - std::pow(beta2, step));
      const double weight =
          a.type == ElementType::kFp32 ? static_cast<float*>(a.weights)[i] : a.master[i];
      const double updated =
          weight * (1.0 - rate * static_cast<double>(a.weight_decay)) -
          rate * unbiased_m / (std::sqrt(unbiased_v) + static_cast<double>(a.epsilon));
      if (a.type == ElementType::kBf16) a.master[i] = static_cast<float>(updated);
      Set(a.type, a.weights, i, updated);
    }
  }
};

}  // namespace

std::unique_ptr<Kernels> MakeReferenceKernels() { return std::make_unique<ReferenceKernels>(); }

}  // namespace meshwright::kernels
