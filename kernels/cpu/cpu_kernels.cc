// Kernels over this variant's functions.
#include "kernels/cpu/loops.h"
#include "kernels/cpu/variants.h"
#include "kernels/kernels.h"
#include "kernels/random_normal.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

namespace variant = MESHWRIGHT_CPU_VARIANT;

class CpuKernels final : public Kernels {
 public:
  explicit CpuKernels(Parallel parallel) : parallel_(parallel) {}

  void Run(const RmsNormForward& args) const override { variant::Run(args, parallel_); }
  void Run(const RmsNormBackward& args) const override { variant::Run(args, parallel_); }
  void Run(const LayerNormForward& args) const override { variant::Run(args, parallel_); }
  void Run(const LayerNormBackward& args) const override { variant::Run(args, parallel_); }
  void Run(const HeadNormForward& args) const override { variant::Run(args, parallel_); }
  void Run(const HeadNormBackward& args) const override { variant::Run(args, parallel_); }
  void Run(const SwigluForward& args) const override { variant::Run(args, parallel_); }
  void Run(const SwigluBackward& args) const override { variant::Run(args, parallel_); }
  void Run(const RouterForward& args) const override { variant::Run(args, parallel_); }
  void Run(const RouterBackward& args) const override { variant::Run(args, parallel_); }
  void Run(const GatherRows& args) const override { variant::Run(args, parallel_); }
  void Run(const ScatterRows& args) const override { variant::Run(args, parallel_); }
  void Run(const SumRows& args) const override { variant::Run(args, parallel_); }
  void Run(const ExpertSwigluForward& args) const override { variant::Run(args, parallel_); }
  void Run(const ExpertSwigluBackward& args) const override { variant::Run(args, parallel_); }
  void Run(const WeighedBias& args) const override { variant::Run(args, parallel_); }
  void Run(const WeighedBiasBackward& args) const override { variant::Run(args, parallel_); }
  void Run(const ActivationForward& args) const override { variant::Run(args, parallel_); }
  void Run(const ActivationBackward& args) const override { variant::Run(args, parallel_); }
  void Run(const BiasGradient& args) const override { variant::Run(args, parallel_); }
  void Run(const Rope& args) const override { variant::Run(args, parallel_); }
  void Run(const AttentionMerge& args) const override { variant::Run(args, parallel_); }
  void Run(const AttentionSink& args) const override { variant::Run(args, parallel_); }
  void Run(const AttentionSinkGradient& args) const override { variant::Run(args, parallel_); }
  void Run(const CrossEntropyStatistics& args) const override { variant::Run(args, parallel_); }
  void Run(const CrossEntropyRescale& args) const override { variant::Run(args, parallel_); }
  void Run(const CrossEntropyLoss& args) const override { variant::Run(args, parallel_); }
  void Run(const CrossEntropyBackward& args) const override { variant::Run(args, parallel_); }
  void Run(const EmbeddingForward& args) const override { variant::Run(args, parallel_); }
  void Run(const EmbeddingBackward& args) const override { variant::Run(args, parallel_); }
  void Run(const Accumulate& args) const override { variant::Run(args, parallel_); }
  void Run(const SumOfSquares& args) const override { variant::Run(args, parallel_); }
  void Run(const RandomNormal& args) const override { FillNormal(args, parallel_); }
  void Run(const AdamW& args) const override { variant::Run(args, parallel_); }
  void Run(const Quantise& args) const override { variant::Run(args, parallel_); }
  void Run(const Dequantise& args) const override { variant::Run(args, parallel_); }

 private:
  Parallel parallel_;
};

}  // namespace

Kernels* NewKernels(Parallel parallel) { return new CpuKernels(parallel); }

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
