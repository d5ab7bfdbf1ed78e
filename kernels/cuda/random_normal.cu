#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/row_pieces.cuh"
#include "kernels/random_normal.h"

namespace meshwright::kernels::cuda {
namespace {

__global__ void FillKernel(RandomNormal a, RowPieces columns) {
  RowPiece at;
  if (!columns.Find(blockIdx.y, static_cast<uint32_t>(GlobalThread()), at)) return;
  const int64_t element = a.begin + at.row * a.stride + at.piece;
  a.values[at.row * a.columns + at.piece] = a.deviation * NormalAt(a.key, element);
}

}  // namespace

void Launch(const RandomNormal& args, cudaStream_t stream) {
  const RowPieces columns(args.rows, args.columns);
  Start(FillKernel, columns.Grid(kThreads), 0, stream, args, columns);
}

}  // namespace meshwright::kernels::cuda
