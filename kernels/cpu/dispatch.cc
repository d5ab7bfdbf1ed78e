#include "kernels/cpu/variants.h"
#include "kernels/kernels.h"

namespace meshwright::kernels {
namespace {

bool HasInstructionSet([[maybe_unused]] std::string_view name) {
#if defined(MESHWRIGHT_X86_VARIANTS)
  if (name == "v3") {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
  }
  if (name == "v4") {
    return HasInstructionSet("v3") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
#endif
  return name == "base";
}

}  // namespace

std::unique_ptr<Kernels> MakeCpuKernels(Parallel parallel, std::string_view instruction_set) {
  if (!HasInstructionSet(instruction_set)) return nullptr;
#if defined(MESHWRIGHT_X86_VARIANTS)
  if (instruction_set == "v4") return std::unique_ptr<Kernels>(v4::NewKernels(parallel));
  if (instruction_set == "v3") return std::unique_ptr<Kernels>(v3::NewKernels(parallel));
#endif
  return std::unique_ptr<Kernels>(base::NewKernels(parallel));
}

std::unique_ptr<Kernels> MakeCpuKernels(Parallel parallel) {
  for (const std::string_view name : {"v4", "v3"}) {
    if (auto kernels = MakeCpuKernels(parallel, name)) return kernels;
  }
  return MakeCpuKernels(parallel, "base");
}

}  // namespace meshwright::kernels
