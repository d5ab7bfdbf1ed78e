// Bubbles of real pipelines against the simulator's: ranks compute the tiny model and then sleep
// for the rest of each action, so that a few cores carry them at the pace of as many devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "executor/trial/step_trace.h"
#include "planner/schedule/simulator.h"
#include "tests/executor/layout_cases.h"
#include "tests/executor/worker/thread_run.h"

namespace meshwright {
namespace {

// Of a micro-batch on a whole rank.
constexpr StageDurations kRank = {
    .forward_s = 0.04, .input_gradient_s = 0.04, .weight_gradient_s = 0.02};

StageDurations ChunkDurations(const Layout& layout) {
  const double share = 1.0 / layout.vpp;
  return {.forward_s = kRank.forward_s * share,
          .input_gradient_s = kRank.input_gradient_s * share,
          .weight_gradient_s = kRank.weight_gradient_s * share};
}

// Share of the time between a rank's first and last action in which it computes nothing.
using IdleShares = std::vector<double>;

IdleShares Simulated(const TrialPlan& plan) {
  PipelineTimes times;
  times.stages.assign(static_cast<size_t>(plan.layout.pp * plan.layout.vpp),
                      ChunkDurations(plan.layout));
  const auto micro_batches =
      static_cast<int32_t>(plan.layout.MicroBatches(plan.training.global_batch));
  const Timeline timeline = SimulateLayout(plan.layout, micro_batches, times).value();
  IdleShares shares;
  for (const RankTimeline& rank : timeline.ranks) {
    shares.push_back(1.0 - rank.busy_s / (rank.compute_end_s - rank.first_start_s));
  }
  return shares;
}

// As someone reads them who has only the trace.
IdleShares FromTrace(const std::string& text, int32_t ranks) {
  std::map<int, double> busy_us;
  std::map<int, double> first_us;
  std::map<int, double> last_us;
  const nlohmann::json trace = nlohmann::json::parse(text);
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || !event["args"].contains("micro_batch")) continue;
    const int rank = event["pid"];
    const double begin_us = event["ts"];
    const double duration_us = event["dur"];
    busy_us[rank] += duration_us;
    first_us.try_emplace(rank, begin_us);
    last_us[rank] = begin_us + duration_us;
  }
  IdleShares shares;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    shares.push_back(1.0 - busy_us[rank] / (last_us[rank] - first_us[rank]));
  }
  return shares;
}

std::vector<RankTrace> TracesOf(const std::vector<ThreadRank>& ranks, size_t step) {
  std::vector<RankTrace> traces;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    RankTrace& trace = traces.emplace_back();
    trace.rank = static_cast<int32_t>(rank);
    trace.pipeline_rank = ranks[rank].pipeline_rank;
    trace.record = ranks[rank].records.at(step);
  }
  return traces;
}

// 10 %, and 2 points where there is next to no bubble.
bool Near(const IdleShares& measured, const IdleShares& expected) {
  for (size_t rank = 0; rank < expected.size(); ++rank) {
    const double allowed = std::max(0.1 * expected[rank], 0.02);
    if (std::abs(measured[rank] - expected[rank]) > allowed) return false;
  }
  return true;
}

std::string Text(const IdleShares& shares) {
  std::string text;
  for (const double share : shares) text += " " + std::to_string(share).substr(0, 6);
  return text;
}

class BubblesTest : public testing::TestWithParam<LayoutCase> {};

TEST_P(BubblesTest, IdleSharesOfARealStepAreTheSimulators) {
  TrialPlan plan = PlanOf(GetParam(), 2);
  const StageDurations chunk = ChunkDurations(plan.layout);
  plan.padded_action_s = {.forward_s = chunk.forward_s,
                          .backward_s = chunk.backward_s(),
                          .backward_input_s = chunk.input_gradient_s,
                          .backward_weight_s = chunk.weight_gradient_s};
  const IdleShares expected = Simulated(plan);
  // A machine that is busy with something else adds idle time; a step that shows the right bubbles
  // is proof enough.
  constexpr int kAttempts = 4;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::vector<ThreadRank> ranks = RunOnThreads(plan);
    for (const ThreadRank& rank : ranks) ASSERT_EQ(rank.error, "");
    for (size_t step = 0; step < static_cast<size_t>(plan.steps); ++step) {
      const IdleShares measured =
          FromTrace(StepTrace(plan.layout, TracesOf(ranks, step)), plan.layout.pp);
      std::cout << "measured " << Text(measured) << "\nsimulated" << Text(expected) << "\n";
      if (Near(measured, expected)) return;
    }
  }
  FAIL() << "no step had the simulated bubbles";
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, BubblesTest,
    testing::Values(LayoutCase{"tp1.pp4.dp1.sched=gpipe"}, LayoutCase{"tp1.pp4.dp1.sched=1f1b"},
                    LayoutCase{"tp1.pp8.dp1.sched=1f1b", {.layers = 8}},
                    LayoutCase{"tp1.pp4.dp1.vpp2.sched=interleaved", {.layers = 8}},
                    LayoutCase{"tp1.pp4.dp1.vpp2.sched=breadth_first", {.layers = 8}},
                    LayoutCase{"tp1.pp4.dp1.sched=zb_h1"},
                    LayoutCase{"tp1.pp8.dp1.sched=zb_h1", {.layers = 8}},
                    LayoutCase{"tp1.pp4.dp1.vpp2.sched=zb_v", {.layers = 8}}),
    [](const auto& test) { return CaseName(test.param); });

}  // namespace
}  // namespace meshwright
