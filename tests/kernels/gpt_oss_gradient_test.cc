// The backward operators that GPT-OSS has beside others, of the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "tests/kernels/gradients.h"
#include "tests/kernels/reference/reference_kernels.h"

namespace meshwright::kernels {
namespace {

class GptOssGradientTest : public testing::Test {
 protected:
  const std::unique_ptr<Kernels> kernels_ = MakeReferenceKernels();
};

// Attention to given keys, whose output and log-sum-exp no sink changes.
TEST_F(GptOssGradientTest, AttentionSink) {
  constexpr int64_t kQueries = 3;
  constexpr int64_t kHeads = 2;
  constexpr int64_t kHeadDim = 4;
  constexpr HeadStrides kStrides = {.batch = 0, .query = kHeads * kHeadDim, .head = kHeadDim};
  constexpr HeadStrides kStatistics = {.batch = 0, .query = 1, .head = kQueries};
  const Values keys = Numbers(kQueries * kHeads * kHeadDim, 0.1);
  const Values log_sum_exp = Numbers(kQueries * kHeads, 0.2);
  const Values sinks = Numbers(kHeads, 0.3);
  const Values doutput = Numbers(keys.size(), 0.4);
  const auto join = [&](const Values& of, Values& output, Values& statistics) {
    output = keys;
    statistics = log_sum_exp;
    kernels_->Run(AttentionSink{.type = kFp64,
                                .batch = 1,
                                .queries = kQueries,
                                .heads = kHeads,
                                .head_dim = kHeadDim,
                                .sinks = of.data(),
                                .sink_stride = 1,
                                .output = output.data(),
                                .output_strides = kStrides,
                                .log_sum_exp = statistics.data(),
                                .log_sum_exp_strides = kStatistics});
  };
  Values output;
  Values statistics;
  join(sinks, output, statistics);
  Values gradient(kHeads);
  kernels_->Run(AttentionSinkGradient{.type = kFp64,
                                      .batch = 1,
                                      .queries = kQueries,
                                      .heads = kHeads,
                                      .head_dim = kHeadDim,
                                      .sinks = sinks.data(),
                                      .sink_stride = 1,
                                      .output = output.data(),
                                      .output_strides = kStrides,
                                      .doutput = doutput.data(),
                                      .doutput_strides = kStrides,
                                      .log_sum_exp = statistics.data(),
                                      .log_sum_exp_strides = kStatistics,
                                      .sink_gradient = gradient.data()});
  ExpectGradient(gradient, sinks, [&](const Values& moved) {
    Values moved_output;
    Values moved_statistics;
    join(moved, moved_output, moved_statistics);
    return Dot(moved_output, doutput);
  });
  // The softmax over the keys and the sink.
  for (size_t i = 0; i < statistics.size(); ++i) {
    const double sink = sinks[i / kQueries];
    EXPECT_NEAR(std::exp(log_sum_exp[i] - statistics[i]) + std::exp(sink - statistics[i]), 1.0,
                1e-14);
  }
}

TEST_F(GptOssGradientTest, WeighedBias) {
  constexpr int64_t kRows = 3;
  constexpr int64_t kWidth = 4;
  const Values weights = Numbers(kRows, 0.1);
  const Values bias = Numbers(kWidth, 0.2);
  const Values dy = Numbers(kRows * kWidth, 0.3);
  const auto loss = [&](const Values& of_rows, const Values& added) {
    Values y(dy.size());
    kernels_->Run(WeighedBias{.type = kFp64,
                              .rows = kRows,
                              .width = kWidth,
                              .weights = of_rows.data(),
                              .bias = added.data(),
                              .y = y.data()});
    return Dot(y, dy);
  };
  Values dweights(kRows);
  kernels_->Run(WeighedBiasBackward{.type = kFp64,
                                    .rows = kRows,
                                    .width = kWidth,
                                    .dy = dy.data(),
                                    .bias = bias.data(),
                                    .dweights = dweights.data()});
  Values dbias(kWidth);
  kernels_->Run(BiasGradient{.type = kFp64,
                             .rows = kRows,
                             .width = kWidth,
                             .dy = dy.data(),
                             .weights = weights.data(),
                             .bias_gradient = dbias.data()});
  ExpectGradient(dweights, weights, [&](const Values& moved) { return loss(moved, bias); });
  ExpectGradient(dbias, bias, [&](const Values& moved) { return loss(weights, moved); });
}

// Of two experts with equal scores the bias decides, and the weights don't know of it.
TEST_F(GptOssGradientTest, ASelectionBiasPicksAndDoesNotWeigh) {
  const Values logits = {0.5, 0.5, -1.0};
  for (const int32_t raised : {0, 1, 2}) {
    Values bias(3);
    bias[static_cast<size_t>(raised)] = 1.0;
    int32_t picked = -1;
    double weight = 0.0;
    kernels_->Run(RouterForward{.type = kFp64,
                                .rows = 1,
                                .experts = 3,
                                .top_k = 1,
                                .groups = 1,
                                .top_groups = 1,
                                .group_best = 1,
                                .score = RouterScore::kSigmoid,
                                .picks = true,
                                .selection_bias = bias.data(),
                                .logits = logits.data(),
                                .picked = &picked,
                                .weights = &weight});
    EXPECT_EQ(picked, raised);
    EXPECT_NEAR(weight, 1.0 / (1.0 + std::exp(-logits[static_cast<size_t>(raised)])), 1e-15);
  }
}

}  // namespace
}  // namespace meshwright::kernels
