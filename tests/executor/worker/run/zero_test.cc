// ZeRO's communication on one rank of a group that is not there: what is gathered and reduced, how
// often, and when.
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/comm/fake_communicator.h"
#include "executor/worker/run/trainer.h"
#include "planner/schedule/schedule.h"
#include "tests/executor/test_models.h"

namespace meshwright::worker {
namespace {

constexpr int64_t kLayers = 4;

// Rank 0 of a layout with data-parallel ranks.
class ZeroTest : public testing::Test {
 protected:
  void Make(int32_t zero, int32_t micro_batch,
            planner::ScheduleKind schedule = planner::ScheduleKind::k1f1b, int32_t vpp = 1) {
    Make({.dp = 2, .micro_batch = micro_batch, .vpp = vpp, .zero = zero, .schedule = schedule});
  }

  void Make(const planner::Layout& layout) {
    context_.model = trial::TinyModel();
    context_.training = trial::TinyTraining();
    context_.layout = layout;
    context_.device = std::make_unique<CpuDevice>();
    ConnectGroupsWith(
        context_,
        [this](const GroupSpec& group) {
          return MakeFakeCommunicator(
              0, static_cast<int32_t>(group.ranks.size()),
              [this, name = group.name](const FakeCall& call) { Report(name, call); });
        },
        std::chrono::seconds(1));
    const auto actions =
        planner::MakeSchedule(context_.layout, 0, static_cast<int32_t>(context_.micro_batches()));
    trainer_ = std::make_unique<Trainer>(context_, actions.value());
  }

  // Of a buffer of one layer, or of the embedding or the head.
  int CallsOfLayers(planner::CollectiveKind operation) {
    return calls_[{operation, BytesOf(Layer(0))}];
  }
  int CallsOfTables(planner::CollectiveKind operation) {
    return calls_[{operation, BytesOf(Embedding())}];
  }
  // In each group.
  const std::map<std::string, int>& calls_by_group() const { return calls_by_group_; }

  const FlatUnit& Embedding() const { return *trainer_->stages().front()->units().front(); }
  const FlatUnit& Layer(size_t index) const {
    const size_t per_chunk = kLayers / context_.layout.vpp;
    const size_t chunk = index / per_chunk;
    return *trainer_->stages()[chunk]->units()[index % per_chunk + (chunk == 0 ? 1 : 0)];
  }

  static int64_t BytesOf(const FlatUnit& unit) { return unit.padded_elements() * 4; }

  const c10::InferenceMode no_tape_;
  RankContext context_;
  std::unique_ptr<Trainer> trainer_;
  std::function<void(const FakeCall&)> on_call_;

 private:
  void Report(const std::string& group, const FakeCall& call) {
    ++calls_[{call.operation, call.bytes}];
    ++calls_by_group_[group];
    if (on_call_) on_call_(call);
  }

  std::map<std::pair<planner::CollectiveKind, int64_t>, int> calls_;
  std::map<std::string, int> calls_by_group_;
};

TEST_F(ZeroTest, Stage1ReducesAndGathersEveryUnitOnceAStep) {
  Make(1, /*micro_batch=*/1);
  trainer_->Step(0);
  EXPECT_EQ(CallsOfLayers(planner::CollectiveKind::kReduceScatter), kLayers);
  EXPECT_EQ(CallsOfLayers(planner::CollectiveKind::kAllGather), kLayers);
  EXPECT_EQ(CallsOfTables(planner::CollectiveKind::kReduceScatter), 2);
  EXPECT_EQ(CallsOfTables(planner::CollectiveKind::kAllGather), 2);
}

TEST_F(ZeroTest, Stage2ReducesEveryMicroBatch) {
  Make(2, /*micro_batch=*/1);
  const auto micro_batches = static_cast<int>(context_.micro_batches());
  ASSERT_EQ(micro_batches, 4);
  trainer_->Step(0);
  EXPECT_EQ(CallsOfLayers(planner::CollectiveKind::kReduceScatter), micro_batches * kLayers);
  EXPECT_EQ(CallsOfLayers(planner::CollectiveKind::kAllGather), kLayers);
}

TEST_F(ZeroTest, Stage3GathersALayerTwiceForEachMicroBatch) {
  Make(3, /*micro_batch=*/1);
  const auto micro_batches = static_cast<int>(context_.micro_batches());
  trainer_->Step(0);
  EXPECT_EQ(CallsOfLayers(planner::CollectiveKind::kAllGather), 2 * kLayers * micro_batches);
  EXPECT_EQ(CallsOfLayers(planner::CollectiveKind::kReduceScatter), micro_batches * kLayers);
  // The embedding's backward needs no weights; the head's follows its forward.
  EXPECT_EQ(CallsOfTables(planner::CollectiveKind::kAllGather), 2 * micro_batches);
}

TEST_F(ZeroTest, LayeredAccumulationGathersALayerTwiceAStepAndReducesItOnce) {
  Make(3, /*micro_batch=*/1, planner::ScheduleKind::kBreadthFirst, /*vpp=*/kLayers);
  trainer_->Step(0);
  EXPECT_EQ(CallsOfLayers(planner::CollectiveKind::kAllGather), 2 * kLayers);
  EXPECT_EQ(CallsOfLayers(planner::CollectiveKind::kReduceScatter), kLayers);
  EXPECT_EQ(CallsOfTables(planner::CollectiveKind::kAllGather), 2);
  EXPECT_EQ(CallsOfTables(planner::CollectiveKind::kReduceScatter), 2);
}

class GatherOnceTest : public ZeroTest, public testing::WithParamInterface<int32_t> {};

// The weights that a step updates are gathered when the next one begins, and waited for in the
// order in which its first forward needs them.
TEST_P(GatherOnceTest, GathersAheadOfAStepsFirstUses) {
  Make(GetParam(), /*micro_batch=*/1);
  trainer_->Step(0);
  const trial::StepRecord record = trainer_->Step(1).record;
  const trial::TimeSpan forward = record.actions.front().time;
  std::vector<int64_t> gathered_bytes;
  double waited_s = forward.begin_s;
  for (const trial::CommunicationSpan& span : record.communication) {
    if (span.operation != planner::CollectiveKind::kAllGather) continue;
    gathered_bytes.push_back(span.bytes);
    EXPECT_LE(span.issued_s, forward.begin_s);
    EXPECT_GE(span.wait.begin_s, waited_s);
    EXPECT_LE(span.wait.end_s, forward.end_s);
    waited_s = span.wait.end_s;
  }
  std::vector<int64_t> in_order_of_use;
  for (const auto& unit : trainer_->stages().front()->units()) {
    in_order_of_use.push_back(BytesOf(*unit));
  }
  EXPECT_EQ(gathered_bytes, in_order_of_use);
}

INSTANTIATE_TEST_SUITE_P(Stages, GatherOnceTest, testing::Values(1, 2));

class ZeroStagesTest : public ZeroTest, public testing::WithParamInterface<int32_t> {};

TEST_P(ZeroStagesTest, ReductionsStartWhileTheBackwardGoesOn) {
  Make(GetParam(), /*micro_batch=*/4);
  int reductions = 0;
  on_call_ = [&](const FakeCall& call) {
    const bool is_loss = call.bytes == 8;
    if (call.operation == planner::CollectiveKind::kAllGather || is_loss) return;
    // The head, the final norm and the last layer are reduced before the first layer has any
    // gradient.
    if (++reductions > 3) return;
    EXPECT_EQ(Layer(0).own_gradients().abs().max().item<float>(), 0.0f);
    EXPECT_EQ(Embedding().own_gradients().abs().max().item<float>(), 0.0f);
  };
  trainer_->Step(0);
  EXPECT_EQ(reductions, kLayers + 3);
}

INSTANTIATE_TEST_SUITE_P(Stages, ZeroStagesTest, testing::Values(0, 1, 2, 3));

// Half of four replicas divide states.
class HsdpTest : public ZeroTest, public testing::WithParamInterface<int32_t> {
 protected:
  void MakeHsdp() { Make({.dp = 4, .zero = GetParam(), .shard_ranks = 2}); }
};

TEST_P(HsdpTest, CopiesAddUpEveryUnitsShardOnceAStep) {
  MakeHsdp();
  ASSERT_EQ(context_.micro_batches(), 2);
  std::map<int64_t, int> sums;
  on_call_ = [&](const FakeCall& call) {
    if (call.operation == planner::CollectiveKind::kAllReduce) ++sums[call.bytes];
  };
  trainer_->Step(0);
  EXPECT_EQ(sums[BytesOf(Layer(0)) / 2], kLayers);
  EXPECT_EQ(sums[BytesOf(Embedding()) / 2], 2);
  // The loss in both directions.
  EXPECT_EQ(sums[8], 2);
  const int scatters = GetParam() == 1 ? 1 : 2;
  EXPECT_EQ(CallsOfLayers(planner::CollectiveKind::kReduceScatter), scatters * kLayers);
  const int gathers = GetParam() == 3 ? 4 : 1;
  EXPECT_EQ(CallsOfLayers(planner::CollectiveKind::kAllGather), gathers * kLayers);
  // All units and the loss.
  EXPECT_EQ(calls_by_group().at("copies"), kLayers + 3 + 1);
  EXPECT_FALSE(calls_by_group().contains("replicas"));
}

// The sum of the head's copies is on its way before the first layer has any gradient.
TEST_P(HsdpTest, CopiesAreAddedUpWhileTheBackwardGoesOn) {
  Make({.dp = 4, .micro_batch = 2, .zero = GetParam(), .shard_ranks = 2});
  ASSERT_EQ(context_.micro_batches(), 1);
  int sums = 0;
  on_call_ = [&](const FakeCall& call) {
    if (call.operation != planner::CollectiveKind::kAllReduce || ++sums > 1) return;
    EXPECT_EQ(call.bytes, BytesOf(Embedding()) / 2);
    EXPECT_EQ(Layer(0).own_gradients().abs().max().item<float>(), 0.0f);
    EXPECT_EQ(Embedding().own_gradients().abs().max().item<float>(), 0.0f);
  };
  trainer_->Step(0);
  EXPECT_GT(sums, 1);
}

INSTANTIATE_TEST_SUITE_P(Stages, HsdpTest, testing::Values(1, 2, 3));

TEST_F(ZeroTest, TheNextLayersWeightsAreOnTheirWayWhenALayerComputes) {
  Make(3, /*micro_batch=*/4);
  const Stage& stage = *trainer_->stages().front();
  size_t gathers = 0;
  on_call_ = [&](const FakeCall& call) {
    if (call.operation != planner::CollectiveKind::kAllGather) return;
    // First the embedding, when the step begins; then each layer before the computation in front
    // of it.
    if (gathers >= 1 && gathers <= kLayers) {
      EXPECT_EQ(stage.saved_blocks(0).size(), gathers < 2 ? 0 : gathers - 2);
    }
    ++gathers;
  };
  trainer_->Step(0);
  EXPECT_GT(gathers, static_cast<size_t>(kLayers));
}

TEST_F(ZeroTest, BetweenStepsOnlyShardsAreHeld) {
  Make(3, /*micro_batch=*/1);
  const auto& device = static_cast<const CpuDevice&>(*context_.device);
  const int64_t before = device.HeldBytes();
  trainer_->Step(0);
  EXPECT_EQ(device.HeldBytes(), before);
}

}  // namespace
}  // namespace meshwright::worker
