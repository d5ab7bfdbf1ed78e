// How long the planner takes: a whole search, and one estimate.
#include <benchmark/benchmark.h>

#include "planner/catalog/plan_query.h"

namespace meshwright {
namespace {

SearchRequest Request(const char* model, const char* cluster, int64_t devices) {
  PlanQuery query;
  query.model.name = model;
  query.cluster.name = cluster;
  query.devices = devices;
  query.training = {.seq_len = 4096, .global_batch = 1024};
  return Resolve(query, /*host_cores=*/1).value();
}

void SearchLlama3_70b(benchmark::State& state) {
  const SearchRequest request = Request("llama-3-70b", "h100", state.range(0));
  int64_t layouts = 0;
  for (auto _ : state) {
    const SearchResult result = Search(request).value();
    layouts += result.funnel.enumerated;
    benchmark::DoNotOptimize(result.layouts.data());
  }
  state.counters["layouts_per_s"] =
      benchmark::Counter(static_cast<double>(layouts), benchmark::Counter::kIsRate);
}
BENCHMARK(SearchLlama3_70b)->Arg(8)->Arg(64)->Arg(512)->Arg(4096)->Unit(benchmark::kMillisecond);

void EstimateOneLayout(benchmark::State& state) {
  const SearchRequest request = Request("llama-3-70b", "h100", 512);
  const EstimateContext context{request.model, request.cluster, request.training, request.profile};
  const Layout layout = ParseLayout("tp8.cp1.pp4.dp16.mb1.vpp5.zero1.sp1").value();
  for (auto _ : state) benchmark::DoNotOptimize(EstimateLayout(context, layout));
}
BENCHMARK(EstimateOneLayout);

void EstimateMemoryOfOneLayout(benchmark::State& state) {
  const SearchRequest request = Request("llama-3-70b", "h100", 512);
  const EstimateContext context{request.model, request.cluster, request.training, request.profile};
  const Layout layout = ParseLayout("tp8.cp1.pp4.dp16.mb1.vpp5.zero1.sp1").value();
  for (auto _ : state) benchmark::DoNotOptimize(EstimateMemory(context, layout));
}
BENCHMARK(EstimateMemoryOfOneLayout);

}  // namespace
}  // namespace meshwright

BENCHMARK_MAIN();
