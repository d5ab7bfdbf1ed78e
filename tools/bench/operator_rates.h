// RegisterOperators() and RunBenchmarks() benchmark all fused operators on one machine. An
// operator's rate is the number of bytes that it has to move, divided by the seconds of its fastest
// run. The rate is also reported as a share of the machine's copy bandwidth.
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
  std::function<double()> copy_bytes_per_s;  // bytes read plus written; measured per operator
};

// Registers a benchmark for each operator, type and model, with the name OPERATOR/TYPE/MODEL. The
// name is OPERATOR/TYPE if the model has no name or the operator does not depend on the model.
void RegisterOperators(const BenchMachine& machine);

// Runs the registered benchmarks. Returns the exit code.
int RunBenchmarks(int argc, char** argv);

}  // namespace meshwright::kernels
