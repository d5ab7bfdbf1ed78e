#include "kernels/cuda/launch.cuh"
#include "kernels/kernels.h"

namespace meshwright::kernels {
namespace {

class CudaKernels final : public Kernels {
 public:
  explicit CudaKernels(void* (*current_stream)()) : current_stream_(current_stream) {}

  void Run(const RmsNormForward& args) const override { cuda::Launch(args, stream()); }
  void Run(const RmsNormBackward& args) const override { cuda::Launch(args, stream()); }
  void Run(const LayerNormForward& args) const override { cuda::Launch(args, stream()); }
  void Run(const LayerNormBackward& args) const override { cuda::Launch(args, stream()); }
  void Run(const HeadNormForward& args) const override { cuda::Launch(args, stream()); }
  void Run(const HeadNormBackward& args) const override { cuda::Launch(args, stream()); }
  void Run(const SwigluForward& args) const override { cuda::Launch(args, stream()); }
  void Run(const SwigluBackward& args) const override { cuda::Launch(args, stream()); }
  void Run(const RouterForward& args) const override { cuda::Launch(args, stream()); }
  void Run(const RouterBackward& args) const override { cuda::Launch(args, stream()); }
  void Run(const GatherRows& args) const override { cuda::Launch(args, stream()); }
  void Run(const ScatterRows& args) const override { cuda::Launch(args, stream()); }
  void Run(const SumRows& args) const override { cuda::Launch(args, stream()); }
  void Run(const ExpertSwigluForward& args) const override { cuda::Launch(args, stream()); }
  void Run(const ExpertSwigluBackward& args) const override { cuda::Launch(args, stream()); }
  void Run(const WeighedBias& args) const override { cuda::Launch(args, stream()); }
  void Run(const WeighedBiasBackward& args) const override { cuda::Launch(args, stream()); }
  void Run(const ActivationForward& args) const override { cuda::Launch(args, stream()); }
  void Run(const ActivationBackward& args) const override { cuda::Launch(args, stream()); }
  void Run(const BiasGradient& args) const override { cuda::Launch(args, stream()); }
  void Run(const Rope& args) const override { cuda::Launch(args, stream()); }
  void Run(const AttentionMerge& args) const override { cuda::Launch(args, stream()); }
  void Run(const AttentionSink& args) const override { cuda::Launch(args, stream()); }
  void Run(const AttentionSinkGradient& args) const override { cuda::Launch(args, stream()); }
  void Run(const CrossEntropyStatistics& args) const override { cuda::Launch(args, stream()); }
  void Run(const CrossEntropyRescale& args) const override { cuda::Launch(args, stream()); }
  void Run(const CrossEntropyLoss& args) const override { cuda::Launch(args, stream()); }
  void Run(const CrossEntropyBackward& args) const override { cuda::Launch(args, stream()); }
  void Run(const EmbeddingForward& args) const override { cuda::Launch(args, stream()); }
  void Run(const EmbeddingBackward& args) const override { cuda::Launch(args, stream()); }
  void Run(const Accumulate& args) const override { cuda::Launch(args, stream()); }
  void Run(const SumOfSquares& args) const override { cuda::Launch(args, stream()); }
  void Run(const RandomNormal& args) const override { cuda::Launch(args, stream()); }
  void Run(const AdamW& args) const override { cuda::Launch(args, stream()); }
  void Run(const Quantise& args) const override { cuda::Launch(args, stream()); }
  void Run(const Dequantise& args) const override { cuda::Launch(args, stream()); }

 private:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(current_stream_()); }

  void* (*const current_stream_)();
};

}  // namespace

std::unique_ptr<Kernels> MakeCudaKernels(void* (*current_stream)()) {
  return std::make_unique<CudaKernels>(current_stream);
}

}  // namespace meshwright::kernels
