// LeastShareOfBf16Memory() returns the share of the predicted bf16 memory that a run on this CPU
// must reach.
#pragma once

namespace meshwright {

// oneDNN holds an fp32 copy of a bf16 product (planner/worker_memory/worker_matmul.h) if the CPU
// has AVX-512, which its bf16 kernels need; on other CPUs the predicted scratch memory stays
// unused. The size of the copy depends on the CPU's caches. On a Xeon with AMX, a run reached
// 97.995 % of the prediction.
inline double LeastShareOfBf16Memory() {
  const bool has_kernels = __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has_kernels ? 0.975 : 0.84;
}
inline constexpr double kMostShareOfBf16Memory = 1.02;

}  // namespace meshwright
