#include "tests/kernels/reference/reference_kernels.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/random_normal.h"
#include "tests/kernels/reference/elements.h"

namespace meshwright::kernels {
namespace {

// The normal distribution function.
double NormalShare(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

void MergeHead(const AttentionMerge& a, int64_t batch, int64_t query, int64_t head) {
  const int64_t at = OffsetOf(a.log_sum_exp_strides, batch, query, head);
  const double before = GetAcc(a.type, a.log_sum_exp, at);
  const double part =
      GetAcc(a.type, a.part_log_sum_exp, OffsetOf(a.part_log_sum_exp_strides, batch, query, head));
  if (std::isinf(part)) return;
  const double max = std::max(before, part);
  const double sum = std::exp(before - max) + std::exp(part - max);
  SetAcc(a.type, a.log_sum_exp, at, max + std::log(sum));
  const int64_t output = OffsetOf(a.output_strides, batch, query, head);
  const int64_t part_output = OffsetOf(a.part_output_strides, batch, query, head);
  for (int64_t i = 0; i < a.head_dim; ++i) {
    const double kept =
        std::isinf(before) ? 0.0 : std::exp(before - max) * GetAcc(a.type, a.output, output + i);
    const double added = std::exp(part - max) * Get(a.type, a.part_output, part_output + i);
    SetAcc(a.type, a.output, output + i, (kept + added) / sum);
  }
}

class ReferenceKernels final : public Kernels {
 public:
  void Run(const RmsNormForward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      double squares = 0.0;
      const void* s = a.branch == nullptr ? a.x : a.sum;
      for (int64_t i = 0; i < a.width; ++i) {
        const int64_t at = row * a.width + i;
        if (a.branch != nullptr) {
          Set(a.type, a.sum, at, Get(a.type, a.x, at) + Get(a.type, a.branch, at));
        }
        squares += std::pow(Get(a.type, s, at), 2);
      }
      const double rstd = 1.0 / std::sqrt(squares / static_cast<double>(a.width) + a.epsilon);
      SetAcc(a.type, a.rstd, row, rstd);
      for (int64_t i = 0; i < a.width; ++i) {
        const int64_t at = row * a.width + i;
        Set(a.type, a.y, at, Get(a.type, s, at) * rstd * Get(a.type, a.weight, i));
      }
    }
  }

  void Run(const RmsNormBackward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      const double rstd = GetAcc(a.type, a.rstd, row);
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
          AddAcc(a.type, a.weight_gradient, i, dy[i] * x * rstd);
        }
        Set(a.type, a.dx, at, residual + through);
      }
    }
  }

  void Run(const LayerNormForward& a) const override {
    const auto width = static_cast<double>(a.width);
    for (int64_t row = 0; row < a.rows; ++row) {
      const void* s = a.branch == nullptr ? a.x : a.sum;
      double mean = 0.0;
      for (int64_t at = row * a.width; at < (row + 1) * a.width; ++at) {
        if (a.branch != nullptr) {
          Set(a.type, a.sum, at, Get(a.type, a.x, at) + Get(a.type, a.branch, at));
        }
        mean += Get(a.type, s, at) / width;
      }
      double variance = 0.0;
      for (int64_t at = row * a.width; at < (row + 1) * a.width; ++at) {
        variance += std::pow(Get(a.type, s, at) - mean, 2) / width;
      }
      const double rstd = 1.0 / std::sqrt(variance + a.epsilon);
      SetAcc(a.type, a.statistics, row, rstd);
      SetAcc(a.type, a.statistics, a.rows + row, mean);
      for (int64_t i = 0; i < a.width; ++i) {
        const int64_t at = row * a.width + i;
        const double normed = (Get(a.type, s, at) - mean) * rstd;
        Set(a.type, a.y, at,
            normed * (a.weight == nullptr ? 1.0 : Get(a.type, a.weight, i)) +
                (a.bias == nullptr ? 0.0 : Get(a.type, a.bias, i)));
      }
    }
  }

  void Run(const LayerNormBackward& a) const override {
    const auto width = static_cast<double>(a.width);
    for (int64_t row = 0; row < a.rows; ++row) {
      const double rstd = GetAcc(a.type, a.statistics, row);
      const double mean = GetAcc(a.type, a.statistics, a.rows + row);
      std::vector<double> through;
      std::vector<double> normed;
      double sum = 0.0;
      double dot = 0.0;
      for (int64_t i = 0; i < a.width; ++i) {
        const double dy = Get(a.type, a.dy, row * a.width + i);
        normed.push_back((Get(a.type, a.x, row * a.width + i) - mean) * rstd);
        through.push_back(dy * (a.weight == nullptr ? 1.0 : Get(a.type, a.weight, i)));
        sum += through.back();
        dot += through.back() * normed.back();
        if (a.weight_gradient != nullptr) AddAcc(a.type, a.weight_gradient, i, dy * normed.back());
        if (a.bias_gradient != nullptr) AddAcc(a.type, a.bias_gradient, i, dy);
      }
      for (int64_t i = 0; i < a.width; ++i) {
        const int64_t at = row * a.width + i;
        const double residual =
            a.residual_gradient == nullptr ? 0.0 : Get(a.type, a.residual_gradient, at);
        Set(a.type, a.dx, at, residual + rstd * (through[i] - (sum + normed[i] * dot) / width));
      }
    }
  }

  void Run(const HeadNormForward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t head = 0; head < a.heads; ++head) {
        const int64_t x_at = row * a.x_stride + head * a.x_head_stride;
        const int64_t y_at = row * a.y_stride + head * a.y_head_stride;
        double squares = 0.0;
        for (int64_t i = 0; i < a.head_dim; ++i) squares += std::pow(Get(a.type, a.x, x_at + i), 2);
        const double rstd = 1.0 / std::sqrt(squares / static_cast<double>(a.head_dim) + a.epsilon);
        SetAcc(a.type, a.rstd, row * a.heads + head, rstd);
        for (int64_t i = 0; i < a.head_dim; ++i) {
          Set(a.type, a.y, y_at + i, Get(a.type, a.x, x_at + i) * rstd * Get(a.type, a.weight, i));
        }
      }
    }
  }

  void Run(const HeadNormBackward& a) const override {
    const auto width = static_cast<double>(a.head_dim);
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t head = 0; head < a.heads; ++head) {
        const double rstd = GetAcc(a.type, a.rstd, row * a.heads + head);
        std::vector<double> dy;
        std::vector<double> x;
        double dot = 0.0;
        for (int64_t i = 0; i < a.head_dim; ++i) {
          dy.push_back(Get(a.type, a.dy, row * a.dy_stride + head * a.dy_head_stride + i));
          x.push_back(Get(a.type, a.x, row * a.x_stride + head * a.x_head_stride + i));
          dot += dy[i] * Get(a.type, a.weight, i) * x[i];
        }
        for (int64_t i = 0; i < a.head_dim; ++i) {
          const double through =
              rstd * (dy[i] * Get(a.type, a.weight, i) - x[i] * dot * rstd * rstd / width);
          AddAcc(a.type, a.weight_gradient, i, dy[i] * x[i] * rstd);
          Set(a.type, a.dx, row * a.dx_stride + head * a.dx_head_stride + i, through);
        }
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

  void Run(const RouterForward& a) const override { RunReference(a); }
  void Run(const RouterBackward& a) const override { RunReference(a); }
  void Run(const GatherRows& a) const override { RunReference(a); }
  void Run(const ScatterRows& a) const override { RunReference(a); }
  void Run(const SumRows& a) const override { RunReference(a); }
  void Run(const ExpertSwigluForward& a) const override { RunReference(a); }
  void Run(const ExpertSwigluBackward& a) const override { RunReference(a); }
  void Run(const WeighedBias& a) const override { RunReference(a); }
  void Run(const WeighedBiasBackward& a) const override { RunReference(a); }
  void Run(const Quantise& a) const override { RunReference(a); }
  void Run(const Dequantise& a) const override { RunReference(a); }

  void Run(const ActivationForward& a) const override {
    for (int64_t i = 0; i < a.count; ++i) {
      const double up = Get(a.type, a.up, i);
      const bool gelu = a.activation == Activation::kGelu;
      Set(a.type, a.product, i, gelu ? up * NormalShare(up) : std::max(up, 0.0));
    }
  }

  void Run(const ActivationBackward& a) const override {
    for (int64_t i = 0; i < a.count; ++i) {
      const double up = Get(a.type, a.up, i);
      const double density = std::exp(-0.5 * up * up) / std::sqrt(2.0 * std::numbers::pi);
      const bool gelu = a.activation == Activation::kGelu;
      const double slope = gelu ? NormalShare(up) + up * density : up > 0.0 ? 1.0 : 0.0;
      Set(a.type, a.gradient, i, Get(a.type, a.dproduct, i) * slope);
    }
  }

  void Run(const BiasGradient& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t i = 0; i < a.width; ++i) {
        const double weight = a.weights == nullptr ? 1.0 : GetAcc(a.type, a.weights, row);
        AddAcc(a.type, a.bias_gradient, i, weight * Get(a.type, a.dy, row * a.width + i));
      }
    }
  }

  void Run(const Rope& a) const override {
    const int64_t half = a.head_dim / 2;
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t head = 0; head < a.heads; ++head) {
        for (int64_t i = 0; i < half; ++i) {
          const int64_t angle = row % a.seq_len * half + i;
          const double cosine = GetAcc(a.type, a.cosine, angle);
          const double sine = GetAcc(a.type, a.sine, angle) * (a.inverse ? -1.0 : 1.0);
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

  void Run(const AttentionMerge& a) const override {
    for (int64_t batch = 0; batch < a.batch; ++batch) {
      for (int64_t query = 0; query < a.queries; ++query) {
        for (int64_t head = 0; head < a.heads; ++head) MergeHead(a, batch, query, head);
      }
    }
  }

  void Run(const AttentionSink& a) const override {
    for (int64_t batch = 0; batch < a.batch; ++batch) {
      for (int64_t query = 0; query < a.queries; ++query) {
        for (int64_t head = 0; head < a.heads; ++head) {
          const int64_t at = OffsetOf(a.log_sum_exp_strides, batch, query, head);
          const double keys = std::exp(GetAcc(a.type, a.log_sum_exp, at));
          const double sum = keys + std::exp(Get(a.type, a.sinks, head * a.sink_stride));
          SetAcc(a.type, a.log_sum_exp, at, std::log(sum));
          const int64_t output = OffsetOf(a.output_strides, batch, query, head);
          for (int64_t i = 0; i < a.head_dim; ++i) {
            Set(a.type, a.output, output + i, Get(a.type, a.output, output + i) * keys / sum);
          }
        }
      }
    }
  }

  void Run(const AttentionSinkGradient& a) const override {
    for (int64_t head = 0; head < a.heads; ++head) {
      const double sink = Get(a.type, a.sinks, head * a.sink_stride);
      double sum = 0.0;
      for (int64_t row = 0; row < a.batch * a.queries; ++row) {
        const auto at = [&](const HeadStrides& strides) {
          return OffsetOf(strides, row / a.queries, row % a.queries, head);
        };
        const double share =
            std::exp(sink - GetAcc(a.type, a.log_sum_exp, at(a.log_sum_exp_strides)));
        for (int64_t i = 0; i < a.head_dim; ++i) {
          sum += share * Get(a.type, a.output, at(a.output_strides) + i) *
                 Get(a.type, a.doutput, at(a.doutput_strides) + i);
        }
      }
      AddAcc(a.type, a.sink_gradient, head * a.sink_stride, -sum);
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
      SetAcc(a.type, a.local_max, row, max);
      SetAcc(a.type, a.local_sum, row, sum);
      SetAcc(a.type, a.target_logit, row,
             here ? Get(a.type, a.logits, row * a.width + target) : 0.0);
    }
  }

  void Run(const CrossEntropyRescale& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      const double shift = GetAcc(a.type, a.local_max, row) - GetAcc(a.type, a.global_max, row);
      SetAcc(a.type, a.local_sum, row, GetAcc(a.type, a.local_sum, row) * std::exp(shift));
    }
  }

  void Run(const CrossEntropyLoss& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      AddAcc(a.type, a.max_to_log_sum_exp, row, std::log(GetAcc(a.type, a.sum, row)));
      *a.loss_sum +=
          GetAcc(a.type, a.max_to_log_sum_exp, row) - GetAcc(a.type, a.target_logit, row);
    }
  }

  void Run(const CrossEntropyBackward& a) const override {
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t i = 0; i < a.width; ++i) {
        const int64_t at = row * a.width + i;
        const double hit = a.targets[row] == a.vocab_begin + i ? 1.0 : 0.0;
        const double softmax =
            std::exp(Get(a.type, a.logits, at) - GetAcc(a.type, a.log_sum_exp, row));
        Set(a.type, a.logits, at, (softmax - hit) * a.scale);
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
        AddAcc(a.type, a.table_gradient, token * a.width + i, Get(a.type, a.dy, row * a.width + i));
      }
    }
  }

  void Run(const Accumulate& a) const override {
    for (int64_t i = 0; i < a.count; ++i) {
      AddAcc(a.type, a.target, i, Get(a.type, a.source, i));
    }
  }

  void Run(const SumOfSquares& a) const override {
    // long double, since one sum over a long buffer would round more than the code under test.
    long double sum = 0.0L;
    for (int64_t i = 0; i < a.count; ++i) sum += std::pow(Get(a.type, a.x, i), 2);
    *a.sum += static_cast<double>(sum);
  }

  void Run(const RandomNormal& a) const override {
    for (int64_t i = 0; i < a.rows * a.columns; ++i) {
      const int64_t element = a.begin + i / a.columns * a.stride + i % a.columns;
      const uint64_t bits = Mix(a.key ^ Mix(static_cast<uint64_t>(element / 2)));
      const double radius =
          std::sqrt(-2.0 * std::log(std::ldexp(static_cast<double>(bits >> 40) + 1.0, -24)));
      const double turns = std::ldexp(static_cast<double>(bits >> 8 & 0xffffff), -24);
      const double angle = 2.0 * std::numbers::pi * turns;
      const double value = radius * (element % 2 == 0 ? std::cos(angle) : std::sin(angle));
      a.values[i] = static_cast<float>(double{a.deviation} * value);
    }
  }

  void Run(const AdamW& a) const override {
    const auto step = static_cast<double>(a.step);
    for (int64_t i = 0; i < a.count; ++i) {
      const double gradient = GetAcc(a.type, a.gradient, i);
      const double m = a.beta1 * GetAcc(a.type, a.first_moment, i) + (1.0 - a.beta1) * gradient;
      const double v =
          a.beta2 * GetAcc(a.type, a.second_moment, i) + (1.0 - a.beta2) * gradient * gradient;
      SetAcc(a.type, a.first_moment, i, m);
      SetAcc(a.type, a.second_moment, i, v);
      const double unbiased_m = m / (1.0 - std::pow(a.beta1, step));
      const double unbiased_v = v / (1.0 - std::pow(a.beta2, step));
      const bool has_master = a.type == ElementType::kBf16;
      const double weight = GetAcc(a.type, has_master ? a.master : a.weights, i);
      const double updated = weight * (1.0 - a.learning_rate * a.weight_decay) -
                             a.learning_rate * unbiased_m / (std::sqrt(unbiased_v) + a.epsilon);
      if (has_master) SetAcc(a.type, a.master, i, updated);
      Set(a.type, a.weights, i, updated);
    }
  }
};

}  // namespace

std::unique_ptr<Kernels> MakeReferenceKernels() { return std::make_unique<ReferenceKernels>(); }

}  // namespace meshwright::kernels
