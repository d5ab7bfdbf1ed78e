#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "planner/estimate/estimate.h"
#include "planner/memory/rank_memory.h"
#include "planner/search/search.h"
#include "planner/spec/expected_maximum.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;

Estimate Of(const TestContext& context, const char* layout) {
  const Layout parsed = MakeLayout(layout);
  return EstimateLayout(context.get(), parsed);
}

TEST(ExpertModels, MoreExpertRanksHoldLessAndSendMore) {
  const TestContext context = MakeContext("mixtral-8x7b", "h100", 4096, 64);
  const Estimate whole = Of(context, "tp1.pp1.dp8.mb1.zero1");
  const Estimate divided = Of(context, "tp1.pp1.dp8.ep8.mb1.zero1");
  EXPECT_LT(divided.memory.weights_bytes, whole.memory.weights_bytes / 4);
  EXPECT_LT(divided.memory.gradients_bytes, whole.memory.gradients_bytes / 4);
  // Its own copies share out their states: with ep 8 there are none.
  EXPECT_NEAR(static_cast<double>(divided.memory.optimizer_bytes),
              static_cast<double>(whole.memory.optimizer_bytes),
              0.01 * static_cast<double>(whole.memory.optimizer_bytes));
  EXPECT_EQ(divided.memory.activations_bytes, whole.memory.activations_bytes);
  EXPECT_DOUBLE_EQ(whole.time[TimePart::kEp], 0.0);
  EXPECT_GT(divided.time[TimePart::kEp], 0.0);
  EXPECT_LT(divided.time[TimePart::kDp], whole.time[TimePart::kDp]);
}

TEST(ExpertModels, AllToAllsAcrossNodesTakeLonger) {
  const TestContext context = MakeContext("qwen3-30b-a3b", "h100", 4096, 512);
  const double inside_s = Of(context, "tp1.pp1.dp64.ep8.mb1.zero1").time[TimePart::kEp];
  const double across_s = Of(context, "tp1.pp1.dp64.ep64.mb1.zero1").time[TimePart::kEp];
  EXPECT_GT(across_s, 4.0 * inside_s);
  TestContext once = context;
  once.profile.communication.deduplicates_tokens = true;
  EXPECT_LT(Of(once, "tp1.pp1.dp64.ep64.mb1.zero1").time[TimePart::kEp], across_s);
  TestContext hidden = context;
  hidden.profile.communication.all_to_all_overlap = 1.0;
  EXPECT_LT(Of(hidden, "tp1.pp1.dp64.ep8.mb1.zero1").time[TimePart::kEp], 0.1 * inside_s);
  EXPECT_DOUBLE_EQ(Of(hidden, "tp1.pp1.dp64.ep64.mb1.zero1").time[TimePart::kEp], across_s);
  hidden.profile.communication.all_to_all_overlap_across = 0.25;
  EXPECT_NEAR(Of(hidden, "tp1.pp1.dp64.ep64.mb1.zero1").time[TimePart::kEp], 0.75 * across_s,
              0.01 * across_s);
  // No more than there is compute to hide it behind.
  hidden.profile.communication.all_to_all_overlap_across = 1.0;
  EXPECT_GT(Of(hidden, "tp1.pp1.dp64.ep64.mb1.zero1").time[TimePart::kEp], 0.4 * across_s);
}

TEST(ExpertModels, AnUnevenLoadTakesMoreMemoryAndTime) {
  TestContext context = MakeContext("qwen3-30b-a3b", "h100", 4096, 64);
  const Estimate even = Of(context, "tp1.pp1.dp16.ep16.mb1.zero1");
  context.training.expert_load = 1.2;
  const Estimate uneven = Of(context, "tp1.pp1.dp16.ep16.mb1.zero1");
  EXPECT_GT(uneven.memory.activations_bytes, even.memory.activations_bytes);
  EXPECT_GE(uneven.oom_probability, even.oom_probability);
  EXPECT_GT(uneven.time.step_s(), even.time.step_s());
  EXPECT_EQ(uneven.memory.weights_bytes, even.memory.weights_bytes);
}

// A rank of 16 has 8 of the 128 experts. Ranks with all experts have the same load.
TEST(ExpertModels, ASpreadOfLoadsIsTheLoadOfTheFullestRank) {
  TestContext given = MakeContext("qwen3-30b-a3b", "h100", 4096, 64);
  given.training.expert_load = 1.2;
  TestContext spread = MakeContext("qwen3-30b-a3b", "h100", 4096, 64);
  spread.profile.traffic.expert_load_spread = 0.2 * std::sqrt(8.0) / ExpectedMaximum(16);
  const TestContext even = MakeContext("qwen3-30b-a3b", "h100", 4096, 64);
  constexpr const char* kSixteen = "tp1.pp1.dp16.ep16.mb1.zero1";
  EXPECT_NEAR(Of(spread, kSixteen).time.step_s() / Of(given, kSixteen).time.step_s(), 1.0, 1e-6);
  EXPECT_EQ(Of(spread, "tp1.pp1.dp16.ep1.mb1.zero1").time.step_s(),
            Of(even, "tp1.pp1.dp16.ep1.mb1.zero1").time.step_s());
  // A load that the question gives goes before the profile's spread.
  spread.training.expert_load = 1.5;
  given.training.expert_load = 1.5;
  EXPECT_EQ(Of(spread, kSixteen).time.step_s(), Of(given, kSixteen).time.step_s());
}

// SimuMax's B200 runs of Megatron-LM: DeepSeek-V3 cut to one dense layer and three with experts
// takes 104.3 GiB on 8 devices, DeepSeek-V2 cut likewise 45.63 GiB.
TEST(ExpertModels, CutModelsTakeWhatTheyTookOnB200) {
  const auto peak_gib = [](const char* name) {
    TestContext context = MakeContext(name, "b200", 4096, 32);
    context.model.groups[0].count = 1;
    context.model.groups[1].count = 3;
    context.model.mtp_layers = 0;
    const MemoryEstimate memory = Of(context, "tp1.pp1.dp8.ep8.mb1.zero1").memory;
    return static_cast<double>(memory.total_bytes() - memory.overhead_bytes) / kBytesPerGib;
  };
  EXPECT_NEAR(peak_gib("deepseek-v3"), 104.3, 0.03 * 104.3);
  EXPECT_NEAR(peak_gib("deepseek-v2"), 45.63, 0.03 * 45.63);
}

TEST(ExpertModels, ALayerThatPredictsFurtherTokensTakesItsShare) {
  TestContext context = MakeContext("deepseek-v3", "h200", 4096, 256);
  constexpr const char* kLayout = "tp1.pp16.dp16.ep16.mb1.zero1.stages=3+14x4+2";
  const Estimate with = Of(context, kLayout);
  context.model.mtp_layers = 0;
  const Estimate without = Of(context, kLayout);
  EXPECT_GT(with.time.step_s(), without.time.step_s());
}

struct Asked {
  const char* model;
  const char* cluster;
  int64_t devices;
};

class KnownExpertModels : public testing::TestWithParam<Asked> {};

TEST_P(KnownExpertModels, HaveLayoutsThatFit) {
  const Asked& asked = GetParam();
  const TestContext context =
      MakeContext(asked.model, asked.cluster, 4096, 4 * asked.devices, "megatron-deepep");
  SearchRequest request = MakeRequest(context, asked.devices);
  request.top = 3;
  const auto result = Search(request);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_FALSE(result->layouts.empty());
  const RankedLayout& best = result->layouts.front();
  EXPECT_GT(best.layout.ep, 1) << FormatLayout(best.layout);
  EXPECT_GT(best.estimate.mfu, 0.15) << FormatLayout(best.layout);
  EXPECT_LT(best.estimate.mfu, 0.6) << FormatLayout(best.layout);
}

INSTANTIATE_TEST_SUITE_P(Presets, KnownExpertModels,
                         testing::Values(Asked{"gpt-oss-20b", "h100", 16},
                                         Asked{"qwen3-30b-a3b", "h100", 32},
                                         Asked{"mixtral-8x22b", "h100", 128},
                                         Asked{"glm-4.5-air", "h200", 64}),
                         [](const auto& test) {
                           std::string name = test.param.model;
                           for (char& c : name) {
                             if (c == '-' || c == '.') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace meshwright::planner
