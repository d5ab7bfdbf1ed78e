#include "executor/worker/state/flat_unit.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>

#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/comm/fake_communicator.h"
#include "planner/worker_memory/unit_shards.h"
#include "tests/executor/test_models.h"

namespace meshwright::worker {
namespace {

constexpr int32_t kReplicas = 3;

// A layer on one of three replicas, which its parameters don't divide into.
struct OneUnit {
  explicit OneUnit(int32_t zero, int32_t replica = 0,
                   planner::Precision precision = planner::Precision::kFp32) {
    context.model = trial::TinyModel();
    context.training = trial::TinyTraining();
    context.training.precision = precision;
    context.layout.dp = kReplicas;
    context.layout.zero = zero;
    context.device = std::make_unique<CpuDevice>();
    (zero == 0 ? context.groups.copies : context.groups.shards) =
        MakeFakeCommunicator(replica, kReplicas, nullptr);
    unit.emplace(context, LayerUnit(context.model, 0, 0, 1), context.groups.replicas());
  }

  const c10::InferenceMode no_tape;
  RankContext context;
  std::optional<FlatUnit> unit;
};

void FillWithNan(const at::Tensor& tensor) {
  tensor.fill_(std::numeric_limits<double>::quiet_NaN());
}

bool IsZero(const at::Tensor& tensor) { return tensor.eq(0).all().item<bool>(); }

TEST(FlatUnitTest, ShardsBeginAtLinesOfMemory) {
  for (const planner::Precision precision :
       {planner::Precision::kBf16, planner::Precision::kFp32, planner::Precision::kFp64}) {
    for (int32_t replica = 0; replica < kReplicas; ++replica) {
      OneUnit one(/*zero=*/1, replica, precision);
      const FlatUnit& unit = *one.unit;
      EXPECT_EQ(unit.padded_elements() % kReplicas, 0);
      for (const at::ScalarType type : {one.context.dtype(), one.context.accumulator_dtype()}) {
        const at::Tensor part =
            unit.OwnPart(at::empty({unit.padded_elements()}, one.context.options_of(type)));
        EXPECT_EQ(part.numel(), unit.padded_elements() / kReplicas);
        EXPECT_EQ(part.storage_offset() * static_cast<int64_t>(part.element_size()) %
                      planner::kShardAlignmentBytes,
                  0);
      }
    }
  }
}

// Experts, for one, are held by fewer ranks than the other parameters of a layer.
TEST(FlatUnitTest, IsDividedAmongItsOwnReplicas) {
  OneUnit one(/*zero=*/3);
  const auto pair = MakeFakeCommunicator(/*rank=*/1, /*size=*/2, nullptr);
  const FlatUnit unit(one.context, LayerUnit(one.context.model, 0, 0, 1), {.shards = pair.get()});
  EXPECT_EQ(unit.replicas().shards, pair.get());
  EXPECT_EQ(unit.padded_elements(), 2 * unit.own_gradients().numel());
  EXPECT_GT(unit.own_gradients().numel(), one.unit->own_gradients().numel());
}

TEST(FlatUnitTest, IsWholeWhereItsRankIsAlone) {
  OneUnit one(/*zero=*/3);
  FlatUnit unit(one.context, LayerUnit(one.context.model, 0, 0, 1), Replicas());
  EXPECT_EQ(unit.zero(), 0);
  EXPECT_EQ(unit.padded_elements(), unit.elements());
  EXPECT_EQ(unit.own_gradients().numel(), unit.elements());
  unit.GatherWeights().Wait();
  unit.ReleaseWeights();
  EXPECT_EQ(unit.weight(kDownWeight).numel(), one.unit->parameters()[kDownWeight].elements());
}

TEST(FlatUnitTest, IsWholeWhereOthersAreItsCopies) {
  OneUnit one(/*zero=*/3);
  const auto pair = MakeFakeCommunicator(/*rank=*/1, /*size=*/2, nullptr);
  const FlatUnit whole(one.context, LayerUnit(one.context.model, 0, 0, 1), {.copies = pair.get()});
  EXPECT_EQ(whole.zero(), 0);
  EXPECT_EQ(whole.own_gradients().numel(), whole.elements());
}

TEST(FlatUnitTest, MatricesAreLeftToWhateverIsWrittenFirst) {
  for (const int32_t zero : {0, 1}) {
    OneUnit one(zero);
    FlatUnit& unit = *one.unit;
    at::Tensor gradients = unit.CloseGradients(/*with_vectors=*/true);
    FillWithNan(gradients);
    unit.ClearGradients();
    EXPECT_TRUE(unit.gradient(kDownWeight).isnan().all().item<bool>()) << "zero " << zero;
    const VectorPositions norm = VectorsOf(unit.parameters(), planner::OperatorName::kFfnNorm);
    EXPECT_TRUE(IsZero(unit.gradient(norm.weight)));
    EXPECT_FALSE(unit.gradient(norm.bias).defined());
    const int64_t padding = unit.padded_elements() - unit.elements();
    EXPECT_TRUE(IsZero(gradients.narrow(0, unit.elements(), padding)));
  }
}

TEST(FlatUnitTest, OnlyTheFirstPartOfAMatrixGradientFindsItEmpty) {
  OneUnit one(/*zero=*/0);
  FlatUnit& unit = *one.unit;
  for (int step = 0; step < 2; ++step) {
    unit.ClearGradients();
    EXPECT_TRUE(unit.TakeMatrixGradient(kDownWeight).empty);
    EXPECT_FALSE(unit.TakeMatrixGradient(kDownWeight).empty);
    EXPECT_TRUE(unit.TakeMatrixGradient(kQkvWeight).empty);
  }
}

TEST(FlatUnitTest, EveryBucketIsEmptyAtFirst) {
  OneUnit one(/*zero=*/2);
  FlatUnit& unit = *one.unit;
  unit.ClearGradients();
  for (int bucket = 0; bucket < 2; ++bucket) {
    unit.OpenGradients();
    EXPECT_TRUE(unit.TakeMatrixGradient(kDownWeight).empty);
    EXPECT_FALSE(unit.TakeMatrixGradient(kDownWeight).empty);
    unit.CloseGradients(/*with_vectors=*/false);
  }
}

TEST(FlatUnitTest, TheFirstReducedPartOfAStepReplacesTheShardOfTheLast) {
  OneUnit one(/*zero=*/2);
  FlatUnit& unit = *one.unit;
  FillWithNan(unit.own_gradients());
  unit.ClearGradients();
  const at::Tensor part = at::full(unit.own_gradients().sizes(), 2.0, one.context.options());
  unit.AddToOwnGradients(part);
  unit.AddToOwnGradients(part);
  EXPECT_TRUE(IsZero(unit.own_gradients() - 4.0));
}

}  // namespace
}  // namespace meshwright::worker
