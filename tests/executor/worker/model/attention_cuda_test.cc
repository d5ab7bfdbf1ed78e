// One call of each of a device's attention kernels against attention written plainly in fp32.
#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/triu.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "executor/worker/model/attention_kernel.h"
#include "tests/executor/cuda_test_device.h"

namespace meshwright::worker {
namespace {

struct Case {
  std::string name;
  AttentionBackend backend = AttentionBackend::kFlash;
  at::ScalarType dtype = at::kBFloat16;
  int64_t queries = 128;
  int64_t keys = 128;
  int64_t kv_heads = 4;  // of 4
  bool causal = true;
  int64_t value_dim = 64;  // of keys as wide as kHeadDim
  std::optional<planner::KeyBand> band = {};

  KeySight sight() const { return {.causal = causal, .band = band}; }
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

constexpr int64_t kBatch = 2;
constexpr int64_t kHeads = 4;
constexpr int64_t kHeadDim = 64;

// [batch, tokens, heads, head_dim] with other heads between and behind these, as in a projection to
// queries, keys and values.
at::Tensor StridedHeads(int64_t tokens, int64_t heads, const at::TensorOptions& options,
                        int64_t dim = kHeadDim) {
  return at::randn({kBatch, tokens, 2 * heads + 1, dim}, options).slice(2, 0, 2 * heads, 2);
}

// Heads first, in fp32, each key head repeated for the queries that share it.
at::Tensor Plain(const at::Tensor& heads) {
  return heads.to(at::kFloat).transpose(1, 2).repeat_interleave(kHeads / heads.size(2), 1);
}

// The gradient of a shared head is the sum over the queries that share it.
at::Tensor Shared(const at::Tensor& gradient, int64_t heads) {
  return gradient.unflatten(1, {heads, kHeads / heads}).sum(2).transpose(1, 2);
}

struct PlainAttention {
  at::Tensor output;
  at::Tensor log_sum_exp;  // [batch, heads, queries]
  AttendedGradient gradient;
};

PlainAttention AttendPlainly(const at::Tensor& doutput, const at::Tensor& q, const at::Tensor& k,
                             const at::Tensor& v, const KeySight& sight) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(kHeadDim));
  const at::Tensor queries = Plain(q);
  const at::Tensor keys = Plain(k);
  const at::Tensor values = Plain(v);
  const at::Tensor dout = Plain(doutput);
  at::Tensor scores = at::matmul(queries, keys.transpose(2, 3)) * scale;
  const auto hide = [&](const at::Tensor& unseen) {
    scores = scores.masked_fill(unseen.to(at::kBool), -std::numeric_limits<double>::infinity());
  };
  const at::Tensor all = at::ones({q.size(1), k.size(1)}, scores.options());
  if (sight.causal) hide(at::triu(all, 1));
  if (sight.band) {
    const int64_t more_keys = k.size(1) - q.size(1);
    hide(at::triu(all, more_keys + sight.band->newer + 1));
    hide(at::tril(all, more_keys - sight.band->older - 1));
  }
  const at::Tensor log_sum_exp = scores.logsumexp(3);
  const at::Tensor shares = (scores - log_sum_exp.unsqueeze(3)).exp();
  const at::Tensor output = at::matmul(shares, values);
  const at::Tensor dshares = at::matmul(dout, values.transpose(2, 3));
  const at::Tensor dscores = shares * (dshares - (dout * output).sum(3, /*keepdim=*/true)) * scale;
  return {.output = output.transpose(1, 2),
          .log_sum_exp = log_sum_exp,
          .gradient = {.q = at::matmul(dscores, keys).transpose(1, 2),
                       .k = Shared(at::matmul(dscores.transpose(2, 3), queries), k.size(2)),
                       .v = Shared(at::matmul(shares.transpose(2, 3), dout), v.size(2))}};
}

void ExpectNear(const at::Tensor& actual, const at::Tensor& expected, double tolerance,
                const char* what) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  const at::Tensor difference = actual.to(at::kFloat) - expected;
  EXPECT_LT(difference.norm().item<double>() / expected.norm().item<double>(), tolerance) << what;
}

class AttentionCudaTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (trial::CudaDeviceCount() == 0) {
      // CTest reports the file as skipped when it sees this line.
      std::cout << "[  SKIPPED ] the whole file: no CUDA device\n";
      GTEST_SKIP() << "no CUDA device";
    }
    device_ = trial::OpenCudaTestDevice(0);
  }

  std::unique_ptr<Device> device_;
};

TEST_P(AttentionCudaTest, AgreesWithPlainAttention) {
  const Case& c = GetParam();
  const auto options = at::TensorOptions().dtype(c.dtype).device(device_->torch_device());
  const at::Tensor q = StridedHeads(c.queries, kHeads, options);
  const at::Tensor k = StridedHeads(c.keys, c.kv_heads, options);
  const at::Tensor v = StridedHeads(c.keys, c.kv_heads, options, c.value_dim);
  const at::Tensor doutput = StridedHeads(c.queries, kHeads, options, c.value_dim);
  const PlainAttention expected = AttendPlainly(doutput, q, k, v, c.sight());
  const double tolerance = c.dtype == at::kBFloat16 ? 0.02 : 2e-3;

  const AttendedHeads actual = AttendForward(c.backend, q, k, v, c.sight());
  ExpectNear(actual.output, expected.output, tolerance, "output");
  ExpectNear(actual.statistics.log_sum_exp, expected.log_sum_exp, tolerance, "log-sum-exp");
  const AttendedGradient gradient =
      AttendBackward(c.backend, doutput, q, k, v, actual.output, actual.statistics, c.sight());
  ExpectNear(gradient.q, expected.gradient.q, tolerance, "gradient of queries");
  ExpectNear(gradient.k, expected.gradient.k, tolerance, "gradient of keys");
  ExpectNear(gradient.v, expected.gradient.v, tolerance, "gradient of values");
}

std::vector<Case> Cases() {
  using enum AttentionBackend;
  return {{.name = "Flash", .backend = kFlash},
          {.name = "FlashGrouped", .backend = kFlash, .kv_heads = 2},
          {.name = "FlashHalfTheKeys", .backend = kFlash, .keys = 64, .causal = false},
          {.name = "FlashHalfTheQueries",
           .backend = kFlash,
           .queries = 64,
           .kv_heads = 2,
           .causal = false},
          {.name = "Cudnn", .backend = kCudnn},
          {.name = "CudnnGrouped", .backend = kCudnn, .kv_heads = 2},
          {.name = "CudnnHalfTheKeys", .backend = kCudnn, .keys = 64, .causal = false},
          {.name = "CudnnHalfTheQueries",
           .backend = kCudnn,
           .queries = 64,
           .kv_heads = 2,
           .causal = false},
          {.name = "Efficient", .backend = kEfficient, .dtype = at::kFloat},
          {.name = "EfficientOddLength",
           .backend = kEfficient,
           .dtype = at::kFloat,
           .queries = 100,
           .keys = 100},
          {.name = "EfficientHalfTheKeys",
           .backend = kEfficient,
           .dtype = at::kFloat,
           .keys = 64,
           .causal = false},
          {.name = "FlashNarrowValues", .backend = kFlash, .value_dim = 40},
          {.name = "CudnnNarrowValues", .backend = kCudnn, .value_dim = 40},
          {.name = "EfficientNarrowValues",
           .backend = kEfficient,
           .dtype = at::kFloat,
           .value_dim = 40},
          // A window, keys of a piece before the queries', and the last of a longer piece.
          {.name = "FlashWindow",
           .backend = kFlash,
           .causal = false,
           .band = planner::KeyBand{.older = 30, .newer = 0}},
          {.name = "FlashGroupedWindowOfNarrowValues",
           .backend = kFlash,
           .kv_heads = 2,
           .causal = false,
           .value_dim = 40,
           .band = planner::KeyBand{.older = 30, .newer = 0}},
          {.name = "FlashWindowOnOlderKeys",
           .backend = kFlash,
           .queries = 64,
           .keys = 64,
           .causal = false,
           .band = planner::KeyBand{.older = 0, .newer = 64}},
          {.name = "FlashWindowOnFewerKeys",
           .backend = kFlash,
           .queries = 96,
           .keys = 40,
           .causal = false,
           .band = planner::KeyBand{.older = 5, .newer = 96}}};
}

INSTANTIATE_TEST_SUITE_P(Kernels, AttentionCudaTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace meshwright::worker
