// Measures the planner's time for a whole search, for all estimates of one, for a single estimate,
// and for simulating one schedule event by event.
#include <benchmark/benchmark.h>

#include <chrono>
#include <string>

#include "planner/catalog/plan_query.h"
#include "planner/estimate/staged_estimate.h"
#include "planner/schedule/check.h"
#include "planner/schedule/simulator.h"
#include "planner/search/mesh_walk.h"
#include "planner/search/space.h"

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
  for ([[maybe_unused]] auto _ : state) {
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
// The worker's profile, with exact memory.
BENCHMARK_CAPTURE(SearchLlama3_70b, meshwright, "meshwright")
    ->Arg(8)
    ->Arg(64)
    ->Arg(512)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);

// A condition is asked of every layout that can run.
void SearchWhere(benchmark::State& state) {
  planner::PlanQuery query;
  query.framework.name = "megatron";
  query.model.name = "llama-3-70b";
  query.cluster.name = "h100";
  query.devices = 512;
  query.training = {.seq_len = 4096, .global_batch = 1024};
  query.where = "(tp <= 4 or cp = 1) and sched in (1f1b, interleaved) and not rc = full and mb < 8";
  const planner::SearchRequest request = planner::Resolve(query, /*host_cores=*/1).value();
  for ([[maybe_unused]] auto _ : state) {
    const planner::SearchResult result = planner::Search(request).value();
    benchmark::DoNotOptimize(result.layouts.data());
  }
}
BENCHMARK(SearchWhere)->Unit(benchmark::kMillisecond);

// Named problems: a model on the number of devices that it was trained on, or another plausible
// number.
struct Problem {
  const char* model;
  int64_t devices;
  int64_t global_batch;
};
constexpr Problem kDense = {"llama-3-70b", 512, 1024};
constexpr Problem kLargest = {"llama-3-405b", 16384, 2048};
constexpr Problem kExperts = {"deepseek-v3", 2048, 1024};
// Hybrids, and models of equal depth whose layers all have one kind of mixer.
constexpr Problem kGatedDelta = {"qwen3.5-35b-a3b", 256, 1024};
constexpr Problem kGatedDeltaPeer = {"qwen3-30b-a3b", 256, 1024};
constexpr Problem kMamba = {"nemotron-3-nano-30b-a3b", 256, 1024};

planner::SearchRequest Request(const Problem& problem) {
  planner::SearchRequest request = Request(problem.model, "h100", problem.devices);
  request.training.global_batch = problem.global_batch;
  return request;
}

// Computes memory and time of every layout that can run, and nothing else.
class EstimatesAll {
 public:
  explicit EstimatesAll(const planner::SearchRequest& request)
      : context_(planner::ContextOf(request)),
        staged_(context_, request.devices),
        device_bytes_(static_cast<double>(request.cluster.device.memory_bytes)) {}

  void EnterMesh(size_t ways_to_divide) { staged_.EnterMesh(ways_to_divide); }
  void Drop(const planner::Violation&, int64_t points, planner::PointOrder) { points_ += points; }
  bool GoesOn(int64_t) { return true; }
  int64_t Visit(const planner::ValidPoint& point) {
    if (point.is_first) staged_.EnterCell(point.layout, point.pipeline);
    const auto bytes = static_cast<double>(staged_.MemoryBytes(point.layout, point.way));
    step_s_ += staged_.StepSeconds(point.layout, point.way, bytes / device_bytes_);
    ++valid_;
    ++points_;
    return 1;
  }

  int64_t valid() const { return valid_; }
  int64_t points() const { return points_; }
  double step_s() const { return step_s_; }

 private:
  const planner::EstimateContext context_;
  planner::StagedEstimate staged_;
  const double device_bytes_;
  int64_t valid_ = 0;
  int64_t points_ = 0;
  double step_s_ = 0.0;
};

// Measures memory and time of all layouts that can run, on one core: layouts per second, and the
// number of points in the space.
void EstimateAllLayouts(benchmark::State& state, const Problem& problem) {
  const planner::SearchRequest request = Request(problem);
  int64_t valid = 0;
  int64_t points = 0;
  for ([[maybe_unused]] auto _ : state) {
    const planner::SearchSpace space(request.model, request.devices, request.training.global_batch,
                                     request.profile);
    planner::RuleInput rules = planner::RuleInputOf(planner::ContextOf(request), request.devices);
    rules.drops_dominated = true;
    EstimatesAll sink(request);
    planner::MeshWalk walk(rules, space, sink);
    for (size_t mesh = 0; mesh < space.meshes(); ++mesh) walk.Walk(mesh);
    benchmark::DoNotOptimize(sink.step_s());
    valid += sink.valid();
    points = sink.points();
  }
  state.counters["points"] = static_cast<double>(points);
  state.counters["valid_layouts_per_s_and_core"] =
      benchmark::Counter(static_cast<double>(valid), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(EstimateAllLayouts, llama_3_70b_on_512, kDense)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(EstimateAllLayouts, llama_3_405b_on_16384, kLargest)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(EstimateAllLayouts, deepseek_v3_on_2048, kExperts)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(EstimateAllLayouts, qwen3_5_35b_on_256, kGatedDelta)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(EstimateAllLayouts, qwen3_30b_on_256, kGatedDeltaPeer)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(EstimateAllLayouts, nemotron_3_nano_on_256, kMamba)
    ->Unit(benchmark::kMillisecond);

// Measures a whole search of the same problem on two cores.
void SearchOnTwoCores(benchmark::State& state, const Problem& problem) {
  planner::SearchRequest request = Request(problem);
  request.run.threads = 2;
  for ([[maybe_unused]] auto _ : state) {
    const planner::SearchResult result = planner::Search(request).value();
    benchmark::DoNotOptimize(result.layouts.data());
    state.counters["points"] = static_cast<double>(result.funnel.enumerated);
  }
}
BENCHMARK_CAPTURE(SearchOnTwoCores, llama_3_70b_on_512, kDense)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(SearchOnTwoCores, llama_3_405b_on_16384, kLargest)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(SearchOnTwoCores, deepseek_v3_on_2048, kExperts)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void EstimateOneLayout(benchmark::State& state) {
  const planner::SearchRequest request = Request("llama-3-70b", "h100", 512);
  const planner::EstimateContext context{request.model, request.cluster, request.training,
                                         request.profile};
  const planner::Layout layout =
      planner::ParseLayout("tp8.cp1.pp4.dp16.mb1.vpp5.zero1.sp1").value();
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(planner::EstimateLayout(context, layout));
}
BENCHMARK(EstimateOneLayout);

void EstimateMemoryOfOneLayout(benchmark::State& state) {
  const planner::SearchRequest request = Request("llama-3-70b", "h100", 512);
  const planner::EstimateContext context{request.model, request.cluster, request.training,
                                         request.profile};
  const planner::Layout layout =
      planner::ParseLayout("tp8.cp1.pp4.dp16.mb1.vpp5.zero1.sp1").value();
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(planner::EstimateMemory(context, layout));
}
BENCHMARK(EstimateMemoryOfOneLayout);

// 1,000 stages and 1,000 micro-batches: two to three million actions.
constexpr int32_t kManyStages = 1000;
constexpr int32_t kManyMicroBatches = 1000;
// Most seconds for generating and timing them; a run that takes longer fails.
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
  for ([[maybe_unused]] auto _ : state) {
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
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(planner::CheckSchedule(layout, kManyMicroBatches, lists).ok());
  }
}
BENCHMARK(CheckManyStages)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace meshwright::bench

BENCHMARK_MAIN();
