#include "planner/cost/layer_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

using TimelineField = double LayerTime::*;
constexpr std::array<std::pair<const char*, TimelineField>, 13> kTimelineFields = {{
    {"forward", &LayerTime::forward_s},
    {"input gradient", &LayerTime::input_gradient_s},
    {"weight gradient", &LayerTime::weight_gradient_s},
    {"recompute", &LayerTime::recompute_s},
    {"tp forward", &LayerTime::tp_forward_s},
    {"tp backward", &LayerTime::tp_backward_s},
    {"tp recompute", &LayerTime::tp_recompute_s},
    {"cp forward", &LayerTime::cp_forward_s},
    {"cp backward", &LayerTime::cp_backward_s},
    {"cp recompute", &LayerTime::cp_recompute_s},
    {"ep forward", &LayerTime::ep_forward_s},
    {"ep backward", &LayerTime::ep_backward_s},
    {"ep recompute", &LayerTime::ep_recompute_s},
}};

std::vector<OperatorTime> TimelineOf(const TestContext& test, const char* text, size_t shape = 0) {
  const Layout layout = MakeLayout(text);
  const EstimateContext context = test.get();
  return LayerTimeline(StepShape(context, layout), shape, RecomputeOf(layout, /*layer=*/0));
}

const OperatorTime* Entry(const std::vector<OperatorTime>& entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

// Expects that the entries of every shape of the model's layers add up, field by field.
void ExpectAddsUp(const TestContext& test, const char* text) {
  const Layout layout = MakeLayout(text);
  const EstimateContext context = test.get();
  const StepShape step(context, layout);
  const bool whole = layout.recompute == Recompute::kFull || layout.recompute == Recompute::kBlock;
  for (size_t shape = 0; shape < step.planned.blocks().size(); ++shape) {
    const LayerTime layer = EstimateLayer(step, shape);
    const LayerTime all = whole ? Recomputed(step, step.planned.block(shape), layer) : layer;
    const auto entries = LayerTimeline(step, shape, RecomputeOf(layout, /*layer=*/0));
    for (const auto& [name, field] : kTimelineFields) {
      double sum_s = 0.0;
      for (const OperatorTime& entry : entries) sum_s += entry.time.*field;
      EXPECT_NEAR(sum_s, all.*field, 1e-9 * all.*field)
          << test.model.name << " " << text << ", shape " << shape << ": " << name;
    }
  }
}

struct TimelineCase {
  const char* model;
  const char* layout;
};

class LayerTimelines : public testing::TestWithParam<TimelineCase> {};

TEST_P(LayerTimelines, AddUpToTheLayersTime) {
  const auto& [model, layout] = GetParam();
  ExpectAddsUp(MakeContext(model, "h100", 8192, 64), layout);
  ExpectAddsUp(MakeContext(model, "h100", 8192, 64, "torchtitan"), layout);
  TestContext hiding = PlainContext(model, 8192, 64);
  hiding.profile.communication.tensor_parallel_overlap = 0.4;
  hiding.profile.communication.all_to_all_overlap = 0.6;
  hiding.profile.communication.all_to_all_overlap_across = 0.3;
  ExpectAddsUp(hiding, layout);
  hiding.profile.traffic.host_share = 1.0;
  hiding.cluster.host.operator_s = 5e-4;
  ExpectAddsUp(hiding, layout);
  // The network is so slow that compute hides as much as it takes itself.
  hiding.cluster.scale_up.bytes_per_s = 1e8;
  hiding.cluster.scale_out.bytes_per_s = 1e8;
  ExpectAddsUp(hiding, layout);
}

INSTANTIATE_TEST_SUITE_P(
    Each, LayerTimelines,
    testing::Values(TimelineCase{"llama-3-8b", "tp4.cp2.pp1.dp8.mb1.sp1"},
                    TimelineCase{"llama-3-8b", "tp8.pp2.dp4.mb1.sp1.rc=selective"},
                    TimelineCase{"llama-3-8b", "tp8.pp2.dp4.mb1.sp1.rc=full"},
                    TimelineCase{"llama-3-8b", "tp2.cp4.pp2.dp4.mb1.sp1.rc=block:3"},
                    TimelineCase{"gemma-3-12b", "tp2.pp1.dp8.mb1.sp1"},
                    TimelineCase{"gpt-oss-20b", "tp2.pp1.dp8.mb1.ep4.sp1.rc=full"},
                    TimelineCase{"mixtral-8x7b", "tp2.pp2.dp8.mb1.ep8.sp1"},
                    TimelineCase{"mixtral-8x7b", "tp2.pp2.dp8.mb1.ep4.etp2.sp1.rc=full"},
                    TimelineCase{"deepseek-v3", "tp1.pp4.dp16.mb1.ep16"},
                    TimelineCase{"deepseek-v3", "tp2.pp4.dp16.mb1.ep32.sp1.rc=full"},
                    TimelineCase{"deepseek-v2-lite", "tp2.cp2.pp1.dp8.mb1.ep8.sp1"},
                    TimelineCase{"nemotron-3-nano-30b-a3b", "tp2.pp1.dp16.mb1.ep16.sp1"},
                    TimelineCase{"qwen3.5-9b", "tp2.cp2.pp1.dp8.mb1.sp1"},
                    TimelineCase{"qwen3.5-9b", "tp2.cp2.pp1.dp8.mb1.sp1.rc=full"},
                    TimelineCase{"gemma-4-e2b", "tp1.pp1.dp8.mb1"}),
    [](const auto& test) {
      std::string name = std::string(test.param.model) + "_" + test.param.layout;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

TEST(LayerTimeline, AddsUpForLayersThatTrainAdaptersOrNothing) {
  for (const char* parts : {"lora:16", "frozen:layers=0..15"}) {
    TestContext test = MakeContext("llama-3-8b", "h100", 8192, 64);
    test.training.options.train = ParseTrainedParts(parts).value();
    ExpectAddsUp(test, "tp2.pp1.dp8.mb1.sp1");
    ExpectAddsUp(test, "tp2.pp1.dp8.mb1.sp1.rc=full");
  }
}

TEST(LayerTimeline, AddsUpForEveryPreset) {
  for (const std::string& model : ModelNames()) {
    const TestContext test = MakeContext(model.c_str(), "h100", 4096, 64);
    ExpectAddsUp(test, "tp1.pp1.dp8.mb1");
    ExpectAddsUp(test, "tp1.pp1.dp8.mb1.rc=full");
  }
}

TEST(LayerTimeline, NamesTheOperatorsInTheOrderOfTheForward) {
  const auto entries = TimelineOf(PlainContext("llama-2-7b", 4096, 8), "tp1.pp1.dp1");
  std::vector<std::string> names;
  for (const OperatorTime& entry : entries) names.emplace_back(entry.name);
  const std::vector<std::string> expected = {
      "attention_norm",    "qkv_projection",     "rope",        "attention",
      "output_projection", "attention_residual", "ffn_norm",    "gate_up_projection",
      "ffn_activation",    "down_projection",    "ffn_residual"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(Entry(entries, "attention")->kind, "attention");
  EXPECT_EQ(Entry(entries, "down_projection")->kind, "matmul");
  // Both gradients of a product have the FLOPs of its forward.
  const LayerTime& down = Entry(entries, "down_projection")->time;
  EXPECT_GT(down.input_gradient_s, 0.8 * down.forward_s);
  EXPECT_GT(down.weight_gradient_s, 0.8 * down.forward_s);
}

// Two all-gathers and two reduce-scatters in each direction, of equal bytes.
TEST(LayerTimeline, CollectivesStandAtTheEndsOfTheBranches) {
  TestContext test = PlainContext("llama-2-7b", 4096, 8);
  const auto entries = TimelineOf(test, "tp4.pp1.dp1.sp1");
  const double bytes = 2.0 * 4096.0 * 4096.0;
  const double each_s = 3.0 / 4.0 * bytes / 300e9;
  int with_tp = 0;
  for (const OperatorTime& entry : entries) {
    if (entry.time.tp_forward_s == 0.0) continue;
    ++with_tp;
    EXPECT_EQ(entry.kind, "collective") << entry.name;
    EXPECT_NEAR(entry.time.tp_forward_s, each_s, 1e-12) << entry.name;
  }
  EXPECT_EQ(with_tp, 4);
  // Compute hides half of each.
  test.profile.communication.tensor_parallel_overlap = 0.5;
  const auto half = TimelineOf(test, "tp4.pp1.dp1.sp1");
  EXPECT_NEAR(Entry(half, "attention_enter")->time.tp_forward_s, each_s / 2.0, 1e-12);
}

TEST(LayerTimeline, ARecomputedLayerRepeatsTheForwardOfEachOperator) {
  for (const OperatorTime& entry :
       TimelineOf(PlainContext("llama-2-7b", 4096, 8), "tp1.pp1.dp1.rc=full")) {
    EXPECT_DOUBLE_EQ(entry.time.recompute_s, entry.time.forward_s) << entry.name;
  }
}

// torchtitan's checkpoint ends with the last tensor that backward reads.
TEST(LayerTimeline, RecomputeThatStopsEarlyLeavesOutTheLastProduct) {
  const auto entries = TimelineOf(MakeContext("llama-3-8b", "h100", 8192, 64, "torchtitan"),
                                  "tp1.pp1.dp8.mb1.zero3.rc=full");
  EXPECT_GT(Entry(entries, "gate_up_projection")->time.recompute_s, 0.0);
  EXPECT_EQ(Entry(entries, "down_projection")->time.recompute_s, 0.0);
}

TEST(LayerTimeline, AWaitForTheHostIsTheLastEntry) {
  TestContext test = PlainContext("llama-2-7b", 512, 8);
  EXPECT_EQ(Entry(TimelineOf(test, "tp8.pp1.dp1"), "host"), nullptr);
  test.profile.traffic.host_share = 1.0;
  test.cluster.host.operator_s = 2e-4;
  const auto entries = TimelineOf(test, "tp8.pp1.dp1");
  EXPECT_EQ(entries.back().name, "host");
  EXPECT_GT(entries.back().time.forward_s, 0.0);
  EXPECT_GT(entries.back().time.backward_s(), 0.0);
}

}  // namespace
}  // namespace meshwright::planner
