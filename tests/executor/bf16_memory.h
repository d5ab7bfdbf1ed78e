// What of the memory that is predicted for bf16 on a CPU a run must reach.
#pragma once

namespace meshwright {

// oneDNN holds a bf16 product in fp32 as well (planner/worker_memory/worker_matmul.h) where it has
// kernels for it, which are AVX-512's; on other CPUs the scratch memory that is predicted stays
// free.
inline double LeastShareOfBf16Memory() {
  const bool has_kernels = __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has_kernels ? 0.98 : 0.84;
}
inline constexpr double kMostShareOfBf16Memory = 1.02;

}  // namespace meshwright
