// How long the planner takes: a whole search, one estimate, and one schedule event by event.
#include <benchmark/benchmark.h>

#include <chrono>
#include <string>

#include "planner/catalog/plan_query.h"
#include "planner/schedule/check.h"
#include "planner/schedule/simulator.h"

namespace meshwright::bench {
namespace {

planner::SearchRequest Request(const char* model, const char* cluster, int64_t devices,
                               const char* framework = "megatron") {
  planner::PlanQuery query;
  query.framework.name = framework;
  query.model.name = model;
  query.cluster.name = cluster;
  query.devices = devices;
  query.training = {.seq_len = 4096, .global_batch = 1024};
  return planner::Resolve(query, /*host_cores=*/1).value();
}

void SearchLlama3_70b(benchmark::State& state, const char* framework) {
  const planner::SearchRequest request = Request("llama-3-70b", "h100", state.range(0), framework);
  int64_t layouts = 0;
  for (auto _ : state) {
    const planner::SearchResult result = planner::Search(request).value();
    layouts += result.funnel.enumerated;
    benchmark::DoNotOptimize(result.layouts.data());
  }
  state.counters["layouts_per_s"] =
      benchmark::Counter(static_cast<double>(layouts), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(SearchLlama3_70b, megatron, "megatron")
    ->Arg(8)
    ->Arg(64)
    ->Arg(512)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);
// The worker's profile, whose memory is exact.
BENCHMARK_CAPTURE(SearchLlama3_70b, meshwright, "meshwright")
    ->Arg(8)
    ->Arg(64)
    ->Arg(512)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);

void EstimateOneLayout(benchmark::State& state) {
  const planner::SearchRequest request = Request("llama-3-70b", "h100", 512);
  const planner::EstimateContext context{request.model, request.cluster, request.training,
                                         request.profile};
  const planner::Layout layout =
      planner::ParseLayout("tp8.cp1.pp4.dp16.mb1.vpp5.zero1.sp1").value();
  for (auto _ : state) benchmark::DoNotOptimize(planner::EstimateLayout(context, layout));
}
BENCHMARK(EstimateOneLayout);

void EstimateMemoryOfOneLayout(benchmark::State& state) {
  const planner::SearchRequest request = Request("llama-3-70b", "h100", 512);
  const planner::EstimateContext context{request.model, request.cluster, request.training,
                                         request.profile};
  const planner::Layout layout =
      planner::ParseLayout("tp8.cp1.pp4.dp16.mb1.vpp5.zero1.sp1").value();
  for (auto _ : state) benchmark::DoNotOptimize(planner::EstimateMemory(context, layout));
}
BENCHMARK(EstimateMemoryOfOneLayout);

// 1,000 stages and 1,000 micro-batches: two to three million actions.
constexpr int32_t kManyStages = 1000;
constexpr int32_t kManyMicroBatches = 1000;
// Generating and timing them may take this long; a run that takes longer fails.
constexpr double kLongestSimulation = 2.0;

planner::Layout ManyStages(const char* schedule, int32_t vpp) {
  planner::Layout layout = planner::ParseLayout(std::string("tp1.pp1.dp1.sched=") + schedule +
                                                ".vpp" + std::to_string(vpp))
                               .value();
  layout.pp = kManyStages / vpp;
  return layout;
}

planner::PipelineTimes TimesOfManyStages() {
  planner::PipelineTimes times;
  for (int32_t stage = 0; stage < kManyStages; ++stage) {
    times.stages.push_back({1.0 + 0.01 * (stage % 7), 1.1, 0.9});
  }
  times.hop_s = {0.05};
  return times;
}

void SimulateManyStages(benchmark::State& state, const char* schedule, int32_t vpp) {
  const planner::Layout layout = ManyStages(schedule, vpp);
  const planner::PipelineTimes times = TimesOfManyStages();
  int64_t actions = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const planner::ScheduleLists lists = planner::MakeSchedules(layout, kManyMicroBatches).value();
    const planner::Timeline timeline =
        planner::Simulate(layout, kManyMicroBatches, lists, times).value();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (taken.count() > kLongestSimulation) {
      state.SkipWithError("slower than its limit");
      break;
    }
    actions += static_cast<int64_t>(timeline.actions.size());
    benchmark::DoNotOptimize(timeline.makespan_s);
  }
  state.counters["actions_per_s"] =
      benchmark::Counter(static_cast<double>(actions), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(SimulateManyStages, gpipe, "gpipe", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SimulateManyStages, 1f1b, "1f1b", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SimulateManyStages, interleaved, "interleaved", 4)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SimulateManyStages, breadth_first, "breadth_first", 4)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SimulateManyStages, zb_h1, "zb_h1", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SimulateManyStages, zb_v, "zb_v", 2)->Unit(benchmark::kMillisecond);

void CheckManyStages(benchmark::State& state) {
  const planner::Layout layout = ManyStages("zb_h1", 1);
  const planner::ScheduleLists lists = planner::MakeSchedules(layout, kManyMicroBatches).value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(planner::CheckSchedule(layout, kManyMicroBatches, lists).ok());
  }
}
BENCHMARK(CheckManyStages)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace meshwright::bench

BENCHMARK_MAIN();
