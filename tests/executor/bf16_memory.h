// How much of the predicted bf16 memory a run on this CPU must reach.
#pragma once

namespace meshwright {

// oneDNN holds an fp32 copy of a bf16 product (planner/worker_memory/worker_matmul.h) where it has
// kernels for it, which need AVX-512; on other CPUs the predicted scratch memory stays unused. How
// much it holds depends on the CPU's caches: 97.995 % was seen on a Xeon with AMX.
inline double LeastShareOfBf16Memory() {
  const bool has_kernels = __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has_kernels ? 0.975 : 0.84;
}
inline constexpr double kMostShareOfBf16Memory = 1.02;

}  // namespace meshwright
