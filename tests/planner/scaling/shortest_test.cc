#include "planner/scaling/shortest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/layout/layout_condition.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;

class ShortestTest : public testing::Test {
 protected:
  const ShortestRun& Of(const std::vector<ShortestRun>& runs, Strategy strategy) {
    return runs[static_cast<size_t>(strategy)];
  }
  // By hand: the least time over every batch and size of that strategy's layouts.
  double LeastSeconds(const char* where) {
    double least = 1e30;
    SearchRequest search = request_.search;
    search.profile.communication.data_parallel_overlap = request_.overlap;
    search.where = ParseLayoutCondition("where", where).value();
    for (const int64_t devices : request_.sizes) {
      for (const int64_t batch : BatchesFor(devices, request_.critical.batch)) {
        search.devices = devices;
        search.training.global_batch = batch;
        const auto result = Search(search);
        if (!result.ok() || result->layouts.empty()) continue;
        const double tokens =
            request_.critical.tokens * (1.0 + static_cast<double>(batch) / request_.critical.batch);
        least = std::min(least, tokens / result->layouts.front().estimate.tokens_per_s);
      }
    }
    return least;
  }

  // Of the request as it stands, worked out once for all tests.
  const std::vector<ShortestRun>& Runs() {
    static const std::vector<ShortestRun> runs = ShortestRuns(request_).value();
    return runs;
  }

  const TestContext test_ = MakeContext("llama-2-13b", "a100-80", 2048, 1);
  ShortestRequest request_ = {.search = MakeRequest(test_, 1),
                              .sizes = {64, 256},
                              .critical = {.tokens = 1e11, .batch = 100.0}};
};

TEST(CriticalBatch, TakesTwiceTheTokens) {
  const CriticalBatch critical = {.tokens = 3e11, .batch = 2400.0};
  EXPECT_DOUBLE_EQ(critical.TokensWith(2400), 6e11);
  EXPECT_DOUBLE_EQ(critical.TokensWith(1200), 4.5e11);
}

TEST(BatchesAround, ArePowersOfTwoAndThreeTimesThose) {
  EXPECT_THAT(BatchesAround(3.0), ElementsAre(1, 2, 3, 4, 6, 8, 12));
  EXPECT_THAT(BatchesAround(256.0),
              ElementsAre(4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024));
  EXPECT_THAT(BatchesAround(0.1), ElementsAre(1));
}

TEST(BatchesFor, AreMultiplesOfWhatIsOddInTheDevicesToo) {
  EXPECT_EQ(BatchesFor(512, 256.0), BatchesAround(256.0));
  EXPECT_THAT(BatchesFor(40, 3.0), ElementsAre(1, 2, 3, 4, 5, 6, 8, 10, 12));
}

TEST_F(ShortestTest, IsTheLeastOverSizesBatchesAndLayouts) {
  const auto& runs = Runs();
  EXPECT_DOUBLE_EQ(Of(runs, Strategy::kContiguous).Shortest()->seconds, LeastSeconds("vpp = 1"));
  EXPECT_DOUBLE_EQ(Of(runs, Strategy::kStandard).Shortest()->seconds, LeastSeconds(""));
}

TEST_F(ShortestTest, EachStrategyHasItsOwnSchedules) {
  const auto& runs = Runs();
  for (const ShortestRun& run : runs) {
    for (const SizedRun& sized : run.runs) {
      ASSERT_TRUE(sized.best.has_value());
      const Layout& layout = sized.best->layout;
      EXPECT_EQ(layout.schedule == ScheduleKind::kBreadthFirst, run.strategy == Strategy::kLayered);
      EXPECT_TRUE(run.strategy != Strategy::kContiguous || layout.vpp == 1);
    }
  }
}

TEST_F(ShortestTest, MoreDevicesNeedLargerBatches) {
  const auto& runs = Runs();
  for (const ShortestRun& run : runs) {
    EXPECT_LE(run.runs.front().global_batch, run.runs.back().global_batch);
    EXPECT_LT(run.Shortest()->seconds, run.runs.front().seconds);
  }
}

// The network that a run needs is that with which its devices and batch take a twentieth longer.
TEST_F(ShortestTest, FindsTheNetworkThatARunNeeds) {
  const auto& runs = Runs();
  const ShortestRun& run = Of(runs, Strategy::kContiguous);
  const SizedRun& shortest = *run.Shortest();
  const auto factor = [&](double bytes_per_s) {
    SearchRequest search = request_.search;
    search.profile.communication.data_parallel_overlap = request_.overlap;
    search.where = ParseLayoutCondition("where", "vpp = 1").value();
    search.devices = shortest.devices;
    search.training.global_batch = shortest.global_batch;
    search.cluster.scale_out.bytes_per_s = bytes_per_s;
    const double seconds = request_.critical.TokensWith(shortest.global_batch) /
                           Search(search)->layouts.front().estimate.tokens_per_s;
    return seconds / shortest.seconds;
  };
  const double full = request_.search.cluster.scale_out.bytes_per_s;
  ASSERT_GT(shortest.network_bytes_per_s, 0.0);
  EXPECT_LT(shortest.network_bytes_per_s, full);
  EXPECT_LE(factor(shortest.network_bytes_per_s), 1.0 + kNearShortest);
  EXPECT_GT(factor(shortest.network_bytes_per_s / 1.03), 1.0 + kNearShortest);
  EXPECT_DOUBLE_EQ(shortest.slow_network_factor, factor(full * kSlowNetwork));
  EXPECT_GE(shortest.slow_network_factor, 1.0);
}

TEST_F(ShortestTest, OneNodeNeedsNoNetwork) {
  request_.sizes = {8};
  const auto runs = ShortestRuns(request_).value();
  for (const ShortestRun& run : runs) {
    ASSERT_TRUE(run.shortest.has_value());
    EXPECT_EQ(run.Shortest()->network_bytes_per_s, 0.0);
    EXPECT_DOUBLE_EQ(run.Shortest()->slow_network_factor, 1.0);
  }
}

// Layered accumulation reduces and gathers a layer once a pass: what ZeRO adds to a step falls.
TEST_F(ShortestTest, LayeredAccumulationHidesWhatZeroSends) {
  request_.overlap = 0.0;
  request_.sizes = {64};
  request_.critical.batch = 1024.0;  // more than a micro-batch a rank
  request_.search.where =
      ParseLayoutCondition("where", "tp = 8 and dp = 8 and zero = 3 and mb = 1").value();
  const auto runs = ShortestRuns(request_).value();
  const SizedRun& layered = *Of(runs, Strategy::kLayered).Shortest();
  const SizedRun& standard = *Of(runs, Strategy::kStandard).Shortest();
  EXPECT_LT(layered.seconds, standard.seconds);
  EXPECT_LT(layered.best->estimate.time[TimePart::kDp],
            standard.best->estimate.time[TimePart::kDp]);
}

TEST_F(ShortestTest, LeavesOutSizesInWhichNothingFits) {
  request_.sizes = {1, 64};
  const auto with_one = ShortestRuns(request_).value();
  for (const ShortestRun& run : with_one) {
    EXPECT_FALSE(run.runs.front().best.has_value());
    EXPECT_FALSE(run.runs.front().problem.empty());
    EXPECT_EQ(run.shortest, 1);
  }
  request_.sizes = {1};
  const auto one_alone = ShortestRuns(request_).value();
  for (const ShortestRun& run : one_alone) {
    EXPECT_EQ(run.Shortest(), nullptr);
  }
}

TEST_F(ShortestTest, RefusesWhatIsOutOfRange) {
  const auto field_of = [this](auto change) {
    ShortestRequest request = request_;
    change(request);
    return FieldOf(ShortestRuns(request).status());
  };
  EXPECT_EQ(field_of([](ShortestRequest& r) { r.critical.tokens = 0.0; }), "tokens");
  EXPECT_EQ(field_of([](ShortestRequest& r) { r.critical.batch = -1.0; }), "critical_batch");
  EXPECT_EQ(field_of([](ShortestRequest& r) { r.critical.batch = 1e7; }), "critical_batch");
  EXPECT_EQ(field_of([](ShortestRequest& r) { r.overlap = 1.5; }), "overlap");
  EXPECT_EQ(field_of([](ShortestRequest& r) { r.search.training.seq_len = 0; }), "seq_len");
  EXPECT_EQ(field_of([](ShortestRequest& r) {
              r.search.where = ParseLayoutCondition("where", "tp = 5").value();
            }),
            "where");
}

TEST_F(ShortestTest, EndsWhereItIsCancelled) {
  int64_t asked = 0;
  request_.search.run.cancelled = [&asked] { return ++asked > 3; };
  EXPECT_TRUE(absl::IsCancelled(ShortestRuns(request_).status()));
}

}  // namespace
}  // namespace meshwright::planner
