#include "kernels/cuda/row_norm_backward.cuh"
#include "kernels/cuda/row_norm_forward.cuh"

namespace meshwright::kernels::cuda {

void Launch(const RmsNormForward& args, cudaStream_t stream) {
  LaunchRowNorm</*kCentred=*/false>(LayerNormForward{.type = args.type,
                                                     .rows = args.rows,
                                                     .width = args.width,
                                                     .epsilon = args.epsilon,
                                                     .x = args.x,
                                                     .branch = args.branch,
                                                     .sum = args.sum,
                                                     .weight = args.weight,
                                                     .bias = nullptr,
                                                     .y = args.y,
                                                     .statistics = args.rstd},
                                    stream);
}

void Launch(const RmsNormBackward& args, cudaStream_t stream) {
  LaunchRowNorm</*kCentred=*/false>(LayerNormBackward{.type = args.type,
                                                      .rows = args.rows,
                                                      .width = args.width,
                                                      .dy = args.dy,
                                                      .x = args.x,
                                                      .weight = args.weight,
                                                      .statistics = args.rstd,
                                                      .residual_gradient = args.residual_gradient,
                                                      .dx = args.dx,
                                                      .weight_gradient = args.weight_gradient,
                                                      .bias_gradient = nullptr},
                                    stream);
}

}  // namespace meshwright::kernels::cuda
