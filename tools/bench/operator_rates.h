// Benchmarks of all fused operators on one machine: bytes that each has to move per second, and
// that rate as a share of the machine's own copy bandwidth. Rates are those of the fastest run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tools/bench/operator_cases.h"

namespace meshwright::kernels {

struct BenchMachine {
  int64_t tokens = 0;
  int64_t parameters = 0;
  std::vector<BenchModel> models;
  std::function<std::unique_ptr<BenchMemory>()> make_memory;
  std::function<std::unique_ptr<Kernels>()> make_kernels;
  std::function<double(const std::function<void()>& body)> seconds_of;
  std::function<double()> copy_bytes_per_s;  // read and written; measured after every operator
};

// Names them OPERATOR/TYPE, or OPERATOR/TYPE/MODEL where models have names.
void RegisterOperators(const BenchMachine& machine);

// Runs what was registered. Returns the exit code.
int RunBenchmarks(int argc, char** argv);

}  // namespace meshwright::kernels
