// Ring attention over threads against attention to the whole sequence on one rank.
#include "executor/worker/model/ring_attention.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/comm/memory_account.h"
#include "planner/layout/sequence_share.h"

namespace meshwright::worker {
namespace {

// One sequence, [1, seq_len, heads, head_dim] each; the same of results.
struct Heads {
  at::Tensor q;
  at::Tensor k;
  at::Tensor v;
  at::Tensor output;  // or its gradient
};

AttentionShape ShapeOf(const Heads& heads, int64_t window) {
  return {.batch = heads.q.size(0),
          .seq_len = heads.q.size(1),
          .heads = heads.q.size(2),
          .kv_heads = heads.k.size(2),
          .head_dim = heads.q.size(3),
          .value_dim = heads.v.size(3),
          .window = window};
}

at::Tensor Rows(const at::Tensor& heads) {
  return heads.reshape({heads.size(0) * heads.size(1), -1});
}

// The output and the gradients of q, k and v. `doutput` is in `heads`.
Heads Result(const AttentionShape& shape, const Heads& heads, const AttentionResult& forward,
             const AttentionGradient& gradient) {
  const at::Tensor dq = at::empty(heads.q.sizes(), heads.q.options());
  for (int64_t call = 0; call < shape.calls(); ++call) {
    HeadsOfCall(shape, dq, call).copy_(gradient.q[static_cast<size_t>(call)]);
  }
  return {.q = dq,
          .k = gradient.k.clone(),
          .v = gradient.v.clone(),
          .output = HeadsOfOutput(shape, forward.output).clone()};
}

Heads WholeSequence(const Heads& heads, int64_t window = 0) {
  const AttentionShape shape = ShapeOf(heads, window);
  const AttentionResult forward = AttentionForward(shape, heads.q, heads.k, heads.v);
  return Result(shape, heads, forward,
                AttentionBackward(shape, Rows(heads.output), heads.q, heads.k, heads.v, forward));
}

template <typename Change>
Heads Each(const Heads& heads, const Change& change) {
  return {.q = change(heads.q),
          .k = change(heads.k),
          .v = change(heads.v),
          .output = change(heads.output)};
}

// A rank's tokens.
Heads ShareOf(const Heads& heads, int32_t rank, int32_t cp) {
  const auto pieces = planner::SequencePiecesOf(heads.q.size(1), rank, cp);
  const auto& front = pieces[0];
  const auto& back = pieces[1];
  return Each(heads, [&](const at::Tensor& whole) {
    return at::cat(
        {whole.narrow(1, front.begin, front.count), whole.narrow(1, back.begin, back.count)}, 1);
  });
}

void PutShare(const Heads& share, int32_t rank, int32_t cp, Heads& whole) {
  const auto pieces = planner::SequencePiecesOf(whole.q.size(1), rank, cp);
  const auto& front = pieces[0];
  const auto& back = pieces[1];
  const auto put = [&](const at::Tensor& from, const at::Tensor& to) {
    to.narrow(1, front.begin, front.count).copy_(from.narrow(1, 0, front.count));
    to.narrow(1, back.begin, back.count).copy_(from.narrow(1, front.count, back.count));
  };
  put(share.q, whole.q);
  put(share.k, whole.k);
  put(share.v, whole.v);
  put(share.output, whole.output);
}

Heads RunRank(int32_t rank, int32_t cp, planner::Precision precision, const Heads& heads,
              int64_t window, ThreadHub& hub) {
  RankContext context;
  context.training.precision = precision;
  context.device = std::make_unique<CpuDevice>(&hub);
  GroupSpec group = {
      .name = "cp", .ranks = std::vector<int32_t>(cp), .timeout = std::chrono::seconds(60)};
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  context.groups.cp = context.device->Connect({}, group, rank);
  const Heads share = ShareOf(heads, rank, cp);
  const AttentionShape shape = ShapeOf(share, window);
  const AttentionResult forward = RingAttentionForward(context, shape, share.q, share.k, share.v);
  const AttentionGradient gradient =
      RingAttentionBackward(context, shape, Rows(share.output), share.q, share.k, share.v, forward);
  const ScopedMemoryAccount nobody(nullptr);
  return Result(shape, share, forward, gradient);
}

Heads RunRing(int32_t cp, planner::Precision precision, const Heads& heads, int64_t window = 0) {
  at::set_num_threads(1);
  InstallAccountingAllocator();
  std::vector<Heads> results(static_cast<size_t>(cp));
  std::vector<std::string> errors(results.size());
  ThreadHub hub;
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<size_t>(cp));
    for (int32_t rank = 0; rank < cp; ++rank) {
      threads.emplace_back([&, rank] {
        at::set_num_threads(1);
        const c10::InferenceMode no_tape;
        try {
          results[rank] = RunRank(rank, cp, precision, heads, window, hub);
        } catch (const std::exception& error) {
          errors[rank] = error.what();
        }
      });
    }
  }
  Heads whole = Each(heads, [](const at::Tensor& tensor) { return tensor.clone(); });
  for (int32_t rank = 0; rank < cp; ++rank) {
    EXPECT_EQ(errors[rank], "");
    if (errors[rank].empty()) PutShare(results[rank], rank, cp, whole);
  }
  return whole;
}

double RelativeDistance(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).norm() / expected.norm()).item<double>();
}

class RingAttentionTest : public testing::TestWithParam<std::tuple<int32_t, int64_t>> {};

TEST_P(RingAttentionTest, EqualsAttentionToTheWholeSequence) {
  const auto [cp, kv_heads] = GetParam();
  const c10::InferenceMode no_tape;
  const auto random = [](int64_t heads) { return at::randn({1, 48, heads, 8}, at::kDouble); };
  const Heads heads = {
      .q = random(4), .k = random(kv_heads), .v = random(kv_heads), .output = random(4)};
  const Heads expected = WholeSequence(heads);
  const Heads actual = RunRing(cp, planner::Precision::kFp64, heads);
  EXPECT_LT(RelativeDistance(actual.output, expected.output), 1e-12);
  EXPECT_LT(RelativeDistance(actual.q, expected.q), 1e-12);
  EXPECT_LT(RelativeDistance(actual.k, expected.k), 1e-12);
  EXPECT_LT(RelativeDistance(actual.v, expected.v), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Rings, RingAttentionTest,
                         testing::Combine(testing::Values(2, 3, 8), testing::Values(2, 4)));

// Windows that end within a piece of the sequence and behind the next, and values that are narrower
// than keys. One rank's windows are the tests' against the reference.
class RingWindowTest : public testing::TestWithParam<std::tuple<int32_t, int64_t, int64_t>> {};

TEST_P(RingWindowTest, EqualsAttentionToTheWholeSequence) {
  const auto [cp, window, value_dim] = GetParam();
  const c10::InferenceMode no_tape;
  const auto random = [](int64_t dim) { return at::randn({2, 48, 4, dim}, at::kDouble); };
  const Heads heads = {
      .q = random(8), .k = random(8), .v = random(value_dim), .output = random(value_dim)};
  const Heads expected = WholeSequence(heads, window);
  const Heads actual = RunRing(cp, planner::Precision::kFp64, heads, window);
  EXPECT_LT(RelativeDistance(actual.output, expected.output), 1e-12);
  EXPECT_LT(RelativeDistance(actual.q, expected.q), 1e-12);
  EXPECT_LT(RelativeDistance(actual.k, expected.k), 1e-12);
  EXPECT_LT(RelativeDistance(actual.v, expected.v), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Rings, RingWindowTest,
                         testing::Combine(testing::Values(2, 3, 4, 8),
                                          testing::Values(0, 2, 3, 7, 20), testing::Values(8, 5)));

// Queries of 0 see all keys alike, so that each rank's part of a gradient is known: one is large,
// and each of the others less than bf16 tells from the large one, but not all of them together.
TEST(RingAttention, Bf16GradientsKeepPartsThatAreSmallBesideTheirSum) {
  constexpr int32_t kRanks = 16;
  constexpr int64_t kSeqLen = 64;
  constexpr int64_t kPiece = kSeqLen / (int64_t{2} * kRanks);
  constexpr int64_t kHeads = 2;
  constexpr double kSmall = 0.003;
  const c10::InferenceMode no_tape;
  const at::Tensor ones = at::ones({1, kSeqLen, kHeads, 8}, at::kDouble);
  Heads heads = Each({ones, ones, ones, ones}, [](const at::Tensor& t) { return t.clone(); });
  heads.q.zero_();
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    for (const planner::SequencePiece& piece : planner::SequencePiecesOf(kSeqLen, rank, kRanks)) {
      for (int64_t i = piece.begin; i < piece.begin + piece.count; ++i) {
        // Of a value of the first piece: 1.25 from the second rank, the first that its keys come
        // to.
        const double share = rank == 0 ? 0.0 : rank == 1 ? 1.25 : 1.25 * kSmall;
        heads.output.select(1, i).fill_(share / (2 * kPiece) * static_cast<double>(i + 1));
        // Of a query behind all first pieces: as much from the own keys, the first of its sum.
        const double sign = i % 2 == 0 ? 1.0 : -1.0;
        heads.v.select(1, i).fill_(sign);
        heads.k.select(1, i).fill_(sign * (rank == kRanks - 1 ? 1.0 : kSmall));
      }
    }
  }
  heads = Each(heads, [](const at::Tensor& t) { return t.to(at::kBFloat16); });
  const auto in_fp64 = [](const at::Tensor& t) { return t.to(at::kDouble); };
  const Heads expected = WholeSequence(Each(heads, in_fp64));
  const Heads actual = Each(RunRing(kRanks, planner::Precision::kBf16, heads), in_fp64);
  EXPECT_LT(RelativeDistance(actual.v.narrow(1, 0, kPiece), expected.v.narrow(1, 0, kPiece)), 0.01);
  const int64_t behind = (kRanks + 1) * kPiece - 1;
  EXPECT_LT(RelativeDistance(actual.q.select(1, behind), expected.q.select(1, behind)), 0.01);
}

}  // namespace
}  // namespace meshwright::worker
