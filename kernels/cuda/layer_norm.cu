#include "kernels/cuda/row_norm_backward.cuh"
#include "kernels/cuda/row_norm_forward.cuh"

namespace meshwright::kernels::cuda {

void Launch(const LayerNormForward& args, cudaStream_t stream) {
  LaunchRowNorm</*kCentred=*/true>(args, stream);
}

void Launch(const LayerNormBackward& args, cudaStream_t stream) {
  LaunchRowNorm</*kCentred=*/true>(args, stream);
}

}  // namespace meshwright::kernels::cuda
