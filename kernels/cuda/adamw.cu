#include "kernels/adamw_coefficients.h"
#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// `full` is the fp32 weight; `rounded` its bf16 copy, or null.
__global__ void UpdateKernel(AdamW a, AdamWCoefficients c, float* full, Bf16* rounded) {
  for (int64_t i = GlobalThread(); i < a.count; i += GridThreads()) {
    const float gradient = a.gradient[i];
    const float m = a.beta1 * a.first_moment[i] + (1.0f - a.beta1) * gradient;
    const float v = a.beta2 * a.second_moment[i] + (1.0f - a.beta2) * gradient * gradient;
    a.first_moment[i] = m;
    a.second_moment[i] = v;
    const float weight =
        full[i] * c.decay - c.step_size * m / (sqrtf(v) * c.inverse_root + a.epsilon);
    full[i] = weight;
    if (rounded != nullptr) FromFloat(weight, rounded[i]);
  }
}

}  // namespace

void Launch(const AdamW& args, cudaStream_t stream) {
  const bool fp32 = args.type == ElementType::kFp32;
  float* full = fp32 ? static_cast<float*>(args.weights) : args.master;
  Bf16* rounded = fp32 ? nullptr : static_cast<Bf16*>(args.weights);
  UpdateKernel<<<BlocksFor(args.count), kThreads, 0, stream>>>(args, CoefficientsOf(args), full,
                                                               rounded);
  Check(cudaGetLastError());
}

}  // namespace meshwright::kernels::cuda
