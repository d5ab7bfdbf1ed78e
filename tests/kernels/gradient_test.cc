// The reference's backward operators against differences of its forward ones, in fp64.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "tests/kernels/gradients.h"
#include "tests/kernels/reference/reference_kernels.h"

namespace meshwright::kernels {
namespace {

class GradientTest : public testing::Test {
 protected:
  const std::unique_ptr<Kernels> kernels_ = MakeReferenceKernels();
};

TEST_F(GradientTest, RmsNorm) {
  constexpr int64_t kRows = 3;
  constexpr int64_t kWidth = 5;
  const Values x = Numbers(kRows * kWidth, 0.1);
  const Values weight = Numbers(kWidth, 0.2);
  const Values dy = Numbers(kRows * kWidth, 0.3);
  const Values residual = Numbers(kRows * kWidth, 0.4);
  Values rstd(kRows);
  const auto loss = [&](const Values& input, const Values& scale) {
    Values y(input.size());
    kernels_->Run(RmsNormForward{.type = kFp64,
                                 .rows = kRows,
                                 .width = kWidth,
                                 .epsilon = 1e-5,
                                 .x = input.data(),
                                 .branch = nullptr,
                                 .sum = nullptr,
                                 .weight = scale.data(),
                                 .y = y.data(),
                                 .rstd = rstd.data()});
    return Dot(y, dy) + Dot(input, residual);
  };
  loss(x, weight);
  const Values kept_rstd = rstd;
  Values dx(x.size());
  Values dweight(kWidth);
  kernels_->Run(RmsNormBackward{.type = kFp64,
                                .rows = kRows,
                                .width = kWidth,
                                .dy = dy.data(),
                                .x = x.data(),
                                .weight = weight.data(),
                                .rstd = kept_rstd.data(),
                                .residual_gradient = residual.data(),
                                .dx = dx.data(),
                                .weight_gradient = dweight.data()});
  ExpectGradient(dx, x, [&](const Values& moved) { return loss(moved, weight); });
  ExpectGradient(dweight, weight, [&](const Values& moved) { return loss(x, moved); });
}

TEST_F(GradientTest, LayerNorm) {
  constexpr int64_t kRows = 3;
  constexpr int64_t kWidth = 5;
  const Values x = Numbers(kRows * kWidth, 0.1);
  const Values weight = Numbers(kWidth, 0.2);
  const Values bias = Numbers(kWidth, 0.25);
  const Values dy = Numbers(kRows * kWidth, 0.3);
  const Values residual = Numbers(kRows * kWidth, 0.4);
  Values statistics(2 * kRows);
  const auto loss = [&](const Values& input, const Values& scale, const Values& shift) {
    Values y(input.size());
    kernels_->Run(LayerNormForward{.type = kFp64,
                                   .rows = kRows,
                                   .width = kWidth,
                                   .epsilon = 1e-5,
                                   .x = input.data(),
                                   .branch = nullptr,
                                   .sum = nullptr,
                                   .weight = scale.data(),
                                   .bias = shift.data(),
                                   .y = y.data(),
                                   .statistics = statistics.data()});
    return Dot(y, dy) + Dot(input, residual);
  };
  loss(x, weight, bias);
  const Values kept = statistics;
  Values dx(x.size());
  Values dweight(kWidth);
  Values dbias(kWidth);
  kernels_->Run(LayerNormBackward{.type = kFp64,
                                  .rows = kRows,
                                  .width = kWidth,
                                  .dy = dy.data(),
                                  .x = x.data(),
                                  .weight = weight.data(),
                                  .statistics = kept.data(),
                                  .residual_gradient = residual.data(),
                                  .dx = dx.data(),
                                  .weight_gradient = dweight.data(),
                                  .bias_gradient = dbias.data()});
  ExpectGradient(dx, x, [&](const Values& moved) { return loss(moved, weight, bias); });
  ExpectGradient(dweight, weight, [&](const Values& moved) { return loss(x, moved, bias); });
  ExpectGradient(dbias, bias, [&](const Values& moved) { return loss(x, weight, moved); });
}

TEST_F(GradientTest, Activation) {
  const Values up = Numbers(12, 0.5);
  const auto count = static_cast<int64_t>(up.size());
  const Values dproduct = Numbers(up.size(), 0.6);
  for (const Activation activation : {Activation::kGelu, Activation::kRelu}) {
    Values gradient(up.size());
    kernels_->Run(ActivationBackward{.type = kFp64,
                                     .activation = activation,
                                     .count = count,
                                     .dproduct = dproduct.data(),
                                     .up = up.data(),
                                     .gradient = gradient.data()});
    ExpectGradient(gradient, up, [&](const Values& moved) {
      Values product(up.size());
      kernels_->Run(ActivationForward{.type = kFp64,
                                      .activation = activation,
                                      .count = count,
                                      .up = moved.data(),
                                      .product = product.data()});
      return Dot(product, dproduct);
    });
  }
}

TEST_F(GradientTest, HeadNorm) {
  constexpr int64_t kRows = 2;
  constexpr int64_t kHeads = 3;
  constexpr int64_t kHeadDim = 4;
  constexpr int64_t kStride = kHeads * kHeadDim;
  const Values x = Numbers(kRows * kStride, 0.1);
  const Values weight = Numbers(kHeadDim, 0.2);
  const Values dy = Numbers(kRows * kStride, 0.3);
  Values rstd(kRows * kHeads);
  const auto loss = [&](const Values& input, const Values& scale) {
    Values y(input.size());
    kernels_->Run(HeadNormForward{.type = kFp64,
                                  .rows = kRows,
                                  .heads = kHeads,
                                  .head_dim = kHeadDim,
                                  .epsilon = 1e-5,
                                  .x = input.data(),
                                  .x_stride = kStride,
                                  .x_head_stride = kHeadDim,
                                  .weight = scale.data(),
                                  .y = y.data(),
                                  .y_stride = kStride,
                                  .y_head_stride = kHeadDim,
                                  .rstd = rstd.data()});
    return Dot(y, dy);
  };
  loss(x, weight);
  const Values kept_rstd = rstd;
  Values dx = x;
  Values dweight(kHeadDim);
  kernels_->Run(HeadNormBackward{.type = kFp64,
                                 .rows = kRows,
                                 .heads = kHeads,
                                 .head_dim = kHeadDim,
                                 .dy = dy.data(),
                                 .dy_stride = kStride,
                                 .dy_head_stride = kHeadDim,
                                 .x = dx.data(),
                                 .x_stride = kStride,
                                 .x_head_stride = kHeadDim,
                                 .weight = weight.data(),
                                 .rstd = kept_rstd.data(),
                                 .dx = dx.data(),
                                 .dx_stride = kStride,
                                 .dx_head_stride = kHeadDim,
                                 .weight_gradient = dweight.data()});
  ExpectGradient(dx, x, [&](const Values& moved) { return loss(moved, weight); });
  ExpectGradient(dweight, weight, [&](const Values& moved) { return loss(x, moved); });
}

TEST_F(GradientTest, Swiglu) {
  constexpr int64_t kRows = 2;
  constexpr int64_t kWidth = 3;
  const Values gate_up = Numbers(kRows * 2 * kWidth, 0.5);
  const Values dproduct = Numbers(kRows * kWidth, 0.6);
  Values gradient = gate_up;
  kernels_->Run(SwigluBackward{.type = kFp64,
                               .rows = kRows,
                               .width = kWidth,
                               .dproduct = dproduct.data(),
                               .gate_up = gradient.data()});
  ExpectGradient(gradient, gate_up, [&](const Values& moved) {
    Values product(dproduct.size());
    kernels_->Run(SwigluForward{.type = kFp64,
                                .rows = kRows,
                                .width = kWidth,
                                .gate_up = moved.data(),
                                .product = product.data()});
    return Dot(product, dproduct);
  });
}

TEST_F(GradientTest, ExpertSwiglu) {
  constexpr int64_t kRows = 2;
  constexpr int64_t kWidth = 3;
  const Values gate_up = Numbers(kRows * 2 * kWidth, 0.5);
  const Values weights = Numbers(kRows, 0.2);
  const Values dproduct = Numbers(kRows * kWidth, 0.6);
  for (const SwigluForm& form : {SwigluForm(), ClampedSwiglu(1.1)}) {
    Values gradient = gate_up;
    Values dweights = weights;
    kernels_->Run(ExpertSwigluBackward{.type = kFp64,
                                       .rows = kRows,
                                       .width = kWidth,
                                       .form = form,
                                       .dproduct = dproduct.data(),
                                       .gate_up = gradient.data(),
                                       .weights = dweights.data()});
    const auto loss = [&](const Values& input, const Values& row_weights) {
      Values product(dproduct.size());
      kernels_->Run(ExpertSwigluForward{.type = kFp64,
                                        .rows = kRows,
                                        .width = kWidth,
                                        .form = form,
                                        .gate_up = input.data(),
                                        .weights = row_weights.data(),
                                        .product = product.data()});
      return Dot(product, dproduct);
    };
    ExpectGradient(gradient, gate_up, [&](const Values& moved) { return loss(moved, weights); });
    ExpectGradient(dweights, weights, [&](const Values& moved) { return loss(gate_up, moved); });
  }
}

TEST_F(GradientTest, Router) {
  constexpr int64_t kRows = 2;
  constexpr int64_t kExperts = 5;
  for (const RouterScore score : {RouterScore::kSoftmax, RouterScore::kSigmoid}) {
    for (const int64_t top_k : {1, 3}) {
      const Values logits = Numbers(kRows * kExperts, 0.4);
      const Values dweights = Numbers(static_cast<size_t>(kRows * top_k), 0.9);
      std::vector<int32_t> picked(dweights.size());
      const auto loss = [&](const Values& input) {
        Values weights(dweights.size());
        kernels_->Run(RouterForward{.type = kFp64,
                                    .rows = kRows,
                                    .experts = kExperts,
                                    .top_k = top_k,
                                    .groups = 1,
                                    .top_groups = 1,
                                    .group_best = 1,
                                    .score = score,
                                    .picks = true,
                                    .logits = input.data(),
                                    .picked = picked.data(),
                                    .weights = weights.data()});
        return Dot(weights, dweights);
      };
      loss(logits);
      Values gradient(logits.size());
      kernels_->Run(RouterBackward{.type = kFp64,
                                   .rows = kRows,
                                   .experts = kExperts,
                                   .top_k = top_k,
                                   .score = score,
                                   .losses = {},
                                   .logits = logits.data(),
                                   .picked = picked.data(),
                                   .dweights = dweights.data(),
                                   .dlogits = gradient.data()});
      ExpectGradient(gradient, logits, loss);
    }
  }
}

// The losses of two sequences, the first of which has a row less here, against their own formula.
TEST_F(GradientTest, RouterLosses) {
  constexpr int64_t kRows = 3;
  constexpr int64_t kExperts = 4;
  constexpr double kScale = 0.7;
  constexpr double kZScale = 0.3;
  const Values logits = Numbers(kRows * kExperts, 1.4);
  const Values slots = Numbers(2 * kExperts, 2.0);
  const std::vector<int32_t> picked(kRows, 1);
  const Values dweights(kRows);
  for (const RouterScore score : {RouterScore::kSoftmax, RouterScore::kSigmoid}) {
    const auto loss = [&](const Values& input) {
      double sum = 0.0;
      for (int64_t row = 0; row < kRows; ++row) {
        const double* of = input.data() + row * kExperts;
        double exponentials = 0.0;
        double scores = 0.0;
        double weighed = 0.0;
        for (int64_t i = 0; i < kExperts; ++i) {
          exponentials += std::exp(of[i]);
          const double one =
              score == RouterScore::kSoftmax ? std::exp(of[i]) : 1.0 / (1.0 + std::exp(-of[i]));
          scores += one;
          weighed += one * slots[static_cast<size_t>((row + 1) / 2 * kExperts + i)];
        }
        sum += kScale * weighed / scores + kZScale / 2.0 * std::pow(std::log(exponentials), 2);
      }
      return sum;
    };
    Values gradient(logits.size());
    kernels_->Run(RouterBackward{.type = kFp64,
                                 .rows = kRows,
                                 .experts = kExperts,
                                 .top_k = 1,
                                 .score = score,
                                 .losses = {.slots = slots.data(),
                                            .scale = kScale,
                                            .first_row = 1,
                                            .sequence_rows = 2,
                                            .z_scale = kZScale},
                                 .logits = logits.data(),
                                 .picked = picked.data(),
                                 .dweights = dweights.data(),
                                 .dlogits = gradient.data()});
    ExpectGradient(gradient, logits, loss);
  }
}

TEST_F(GradientTest, RopeTurnsBack) {
  constexpr int64_t kRows = 3;
  constexpr int64_t kHeads = 2;
  constexpr int64_t kHeadDim = 4;
  Values cosine;
  Values sine;
  for (int64_t i = 0; i < kRows * kHeadDim / 2; ++i) {
    cosine.push_back(std::cos(static_cast<double>(i)));
    sine.push_back(std::sin(static_cast<double>(i)));
  }
  const Values x = Numbers(kRows * kHeads * kHeadDim, 0.7);
  const Values dy = Numbers(x.size(), 0.8);
  const auto turn = [&](const Values& from, bool inverse) {
    Values to(from.size());
    kernels_->Run(Rope{.type = kFp64,
                       .rows = kRows,
                       .seq_len = kRows,
                       .heads = kHeads,
                       .head_dim = kHeadDim,
                       .inverse = inverse,
                       .cosine = cosine.data(),
                       .sine = sine.data(),
                       .x = from.data(),
                       .x_stride = kHeads * kHeadDim,
                       .x_head_stride = kHeadDim,
                       .y = to.data(),
                       .y_stride = kHeads * kHeadDim,
                       .y_head_stride = kHeadDim});
    return to;
  };
  ExpectGradient(turn(dy, /*inverse=*/true), x,
                 [&](const Values& moved) { return Dot(turn(moved, /*inverse=*/false), dy); });
}

TEST_F(GradientTest, CrossEntropy) {
  constexpr int64_t kRows = 2;
  constexpr int64_t kWidth = 4;
  constexpr int64_t kVocabBegin = 10;
  const std::vector<int32_t> targets = {12, 10};
  const Values logits = Numbers(kRows * kWidth, 0.9);
  Values log_sum_exp(kRows);
  const auto loss = [&](const Values& moved) {
    Values sum(kRows);
    Values target_logit(kRows);
    kernels_->Run(CrossEntropyStatistics{.type = kFp64,
                                         .rows = kRows,
                                         .width = kWidth,
                                         .vocab_begin = kVocabBegin,
                                         .logits = moved.data(),
                                         .targets = targets.data(),
                                         .local_max = log_sum_exp.data(),
                                         .local_sum = sum.data(),
                                         .target_logit = target_logit.data()});
    double loss_sum = 0.0;
    kernels_->Run(CrossEntropyLoss{.type = kFp64,
                                   .rows = kRows,
                                   .sum = sum.data(),
                                   .target_logit = target_logit.data(),
                                   .max_to_log_sum_exp = log_sum_exp.data(),
                                   .loss_sum = &loss_sum});
    return loss_sum;
  };
  loss(logits);
  Values gradient = logits;
  kernels_->Run(CrossEntropyBackward{.type = kFp64,
                                     .rows = kRows,
                                     .width = kWidth,
                                     .vocab_begin = kVocabBegin,
                                     .scale = 1.0,
                                     .targets = targets.data(),
                                     .log_sum_exp = log_sum_exp.data(),
                                     .logits = gradient.data()});
  ExpectGradient(gradient, logits, loss);
}

TEST_F(GradientTest, Embedding) {
  constexpr int64_t kWidth = 3;
  constexpr int64_t kVocab = 4;
  // One repeats, one is another rank's.
  const std::vector<int32_t> tokens = {1, 3, 1, 7};
  const auto rows = static_cast<int64_t>(tokens.size());
  const Values table = Numbers(kVocab * kWidth, 1.0);
  const Values dy = Numbers(tokens.size() * kWidth, 1.1);
  Values gradient(table.size());
  kernels_->Run(EmbeddingBackward{.type = kFp64,
                                  .rows = rows,
                                  .width = kWidth,
                                  .vocab_begin = 0,
                                  .vocab_count = kVocab,
                                  .tokens = tokens.data(),
                                  .dy = dy.data(),
                                  .table_gradient = gradient.data()});
  ExpectGradient(gradient, table, [&](const Values& moved) {
    Values y(dy.size());
    kernels_->Run(EmbeddingForward{.type = kFp64,
                                   .rows = rows,
                                   .width = kWidth,
                                   .vocab_begin = 0,
                                   .vocab_count = kVocab,
                                   .tokens = tokens.data(),
                                   .table = moved.data(),
                                   .y = y.data()});
    return Dot(y, dy);
  });
}

}  // namespace
}  // namespace meshwright::kernels
