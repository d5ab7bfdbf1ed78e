#include "tools/bench/operator_rates.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <limits>
#include <string>

namespace meshwright::kernels {
namespace {

void Measure(benchmark::State& state, const BenchMachine& machine,
             const BenchOperator& bench_operator, ElementType type, const BenchShape& shape) {
  const auto memory = machine.make_memory();
  const BenchCase bench_case = bench_operator.make(*memory, type, shape);
  const auto kernels = machine.make_kernels();
  double best_s = std::numeric_limits<double>::max();
  for ([[maybe_unused]] auto _ : state) {
    const double took_s = machine.seconds_of([&] { bench_case.run(*kernels); });
    state.SetIterationTime(took_s);
    best_s = std::min(best_s, took_s);
  }
  const double bytes_per_s = static_cast<double>(bench_case.bytes) / best_s;
  const double copy_bytes_per_s = machine.copy_bytes_per_s();
  state.counters["GB/s"] = bytes_per_s / 1e9;
  state.counters["of_copy"] = bytes_per_s / copy_bytes_per_s;
  state.counters["best_us"] = best_s * 1e6;
  state.counters["copy_GB/s"] = copy_bytes_per_s / 1e9;
}

}  // namespace

void RegisterOperators(const BenchMachine& machine) {
  for (const BenchOperator& bench_operator : BenchOperators()) {
    for (const BenchModel& model : machine.models) {
      if (!bench_operator.of_model && &model != &machine.models.front()) continue;
      const BenchShape shape{
          .tokens = machine.tokens, .parameters = machine.parameters, .model = model};
      for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
        std::string name = std::string(bench_operator.name) + "/" + ElementName(type);
        if (bench_operator.of_model && !model.name.empty()) name += "/" + model.name;
        benchmark::RegisterBenchmark(
            name.c_str(),
            [=](benchmark::State& state) { Measure(state, machine, bench_operator, type, shape); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

int RunBenchmarks(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace meshwright::kernels
