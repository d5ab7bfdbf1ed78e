// Bubbles of real pipelines against the simulator's: ranks compute the tiny model and then sleep
// for the rest of each action, so that a few cores carry them at the pace of as many devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "executor/trial/step_trace.h"
#include "nlohmann/json.hpp"
#include "planner/schedule/placement.h"
#include "planner/schedule/simulator.h"
#include "tests/executor/layout_cases.h"
#include "tests/executor/worker/thread_run.h"

namespace meshwright::worker {
namespace {

// Of a micro-batch on a whole rank.
constexpr planner::StageDurations kRank = {
    .forward_s = 0.04, .input_gradient_s = 0.04, .weight_gradient_s = 0.02};

planner::StageDurations ChunkDurations(const planner::Layout& layout) {
  const double share = 1.0 / layout.vpp;
  return {.forward_s = kRank.forward_s * share,
          .input_gradient_s = kRank.input_gradient_s * share,
          .weight_gradient_s = kRank.weight_gradient_s * share};
}

struct IdleShares {
  // Of the time between a rank's first and last action, that in which it computes nothing.
  std::vector<double> ranks;
  // Of all ranks' time between the first action and the last: the bubble.
  double pipeline = 0.0;
};

// What a rank computes, from when to when.
struct Busy {
  double busy_s = 0.0;
  double first_s = std::numeric_limits<double>::infinity();
  double last_s = 0.0;
};

IdleShares SharesOf(const std::vector<Busy>& ranks) {
  IdleShares shares;
  Busy all;
  for (const Busy& rank : ranks) {
    shares.ranks.push_back(1.0 - rank.busy_s / (rank.last_s - rank.first_s));
    all.busy_s += rank.busy_s;
    all.first_s = std::min(all.first_s, rank.first_s);
    all.last_s = std::max(all.last_s, rank.last_s);
  }
  const auto pipeline_s = static_cast<double>(ranks.size()) * (all.last_s - all.first_s);
  shares.pipeline = 1.0 - all.busy_s / pipeline_s;
  return shares;
}

IdleShares Simulated(const trial::TrialPlan& plan) {
  planner::PipelineTimes times;
  times.stages.assign(static_cast<size_t>(planner::StageCount(plan.layout)),
                      ChunkDurations(plan.layout));
  const auto micro_batches =
      static_cast<int32_t>(plan.layout.MicroBatches(plan.training.global_batch));
  const planner::Timeline timeline =
      planner::SimulateLayout(plan.layout, micro_batches, times).value();
  std::vector<Busy> ranks;
  ranks.reserve(timeline.ranks.size());
  for (const planner::RankTimeline& rank : timeline.ranks) {
    ranks.push_back({rank.busy_s, rank.first_start_s, rank.compute_end_s});
  }
  return SharesOf(ranks);
}

// As someone reads them who has only the trace.
IdleShares FromTrace(const std::string& text, int32_t ranks) {
  std::vector<Busy> busy(static_cast<size_t>(ranks));
  const nlohmann::json trace = nlohmann::json::parse(text);
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || !event["args"].contains("micro_batch")) continue;
    Busy& rank = busy.at(event["pid"].get<size_t>());
    const double begin_s = event["ts"].get<double>() * 1e-6;
    const double duration_s = event["dur"].get<double>() * 1e-6;
    rank.busy_s += duration_s;
    rank.first_s = std::min(rank.first_s, begin_s);
    rank.last_s = std::max(rank.last_s, begin_s + duration_s);
  }
  return SharesOf(busy);
}

std::vector<trial::RankTrace> TracesOf(const std::vector<ThreadRank>& ranks, size_t step) {
  std::vector<trial::RankTrace> traces;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    trial::RankTrace& trace = traces.emplace_back();
    trace.rank = static_cast<int32_t>(rank);
    trace.pipeline_rank = ranks[rank].pipeline_rank;
    trace.record = ranks[rank].records.at(step);
  }
  return traces;
}

// Returns whether the bubble is within 10 % or 1 point, and each rank's own share within 10 % or 2
// points.
bool Near(const IdleShares& measured, const IdleShares& expected) {
  for (size_t rank = 0; rank < expected.ranks.size(); ++rank) {
    const double allowed = std::max(0.1 * expected.ranks[rank], 0.02);
    if (std::abs(measured.ranks[rank] - expected.ranks[rank]) > allowed) return false;
  }
  return std::abs(measured.pipeline - expected.pipeline) <= std::max(0.1 * expected.pipeline, 0.01);
}

std::string Text(const IdleShares& shares) {
  std::string text = " " + std::to_string(shares.pipeline).substr(0, 6) + " by rank";
  for (const double share : shares.ranks) text += " " + std::to_string(share).substr(0, 6);
  return text;
}

class BubblesTest : public testing::TestWithParam<trial::LayoutCase> {};

TEST_P(BubblesTest, IdleSharesOfARealStepAreTheSimulators) {
  const trial::TrialPlan plan = trial::PlanOf(GetParam(), 2);
  const planner::StageDurations chunk = ChunkDurations(plan.layout);
  ThreadRunOptions options;
  options.padding = {.forward_s = chunk.forward_s,
                     .backward_s = chunk.backward_s(),
                     .backward_input_s = chunk.input_gradient_s,
                     .backward_weight_s = chunk.weight_gradient_s};
  const IdleShares expected = Simulated(plan);
  // A machine that is busy with something else adds idle time; a step that shows the right bubbles
  // is proof enough.
  constexpr int kAttempts = 4;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::vector<ThreadRank> ranks = RunOnThreads(plan, options);
    for (const ThreadRank& rank : ranks) ASSERT_EQ(rank.error, "");
    for (size_t step = 0; step < static_cast<size_t>(plan.steps); ++step) {
      const IdleShares measured =
          FromTrace(trial::StepTrace(plan.layout, TracesOf(ranks, step)), plan.layout.pp);
      std::cout << "measured " << Text(measured) << "\nsimulated" << Text(expected) << "\n";
      if (Near(measured, expected)) return;
    }
  }
  FAIL() << "no step had the simulated bubbles";
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, BubblesTest,
    testing::Values(trial::LayoutCase{"tp1.pp4.dp1.sched=gpipe"},
                    trial::LayoutCase{"tp1.pp4.dp1.sched=1f1b"},
                    trial::LayoutCase{"tp1.pp8.dp1.sched=1f1b", {.layers = 8}},
                    trial::LayoutCase{"tp1.pp4.dp1.vpp2.sched=interleaved", {.layers = 8}},
                    trial::LayoutCase{"tp1.pp4.dp1.vpp2.sched=breadth_first", {.layers = 8}},
                    trial::LayoutCase{"tp1.pp4.dp1.sched=zb_h1"},
                    trial::LayoutCase{"tp1.pp8.dp1.sched=zb_h1", {.layers = 8}},
                    trial::LayoutCase{"tp1.pp4.dp1.vpp2.sched=zb_v", {.layers = 8}}),
    [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker
