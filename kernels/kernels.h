// Kernels runs the fused operators on one kind of device.
//
// Implementations are a plain reference (the definition, for tests), vectorised CPU code for
// several instruction sets, and CUDA. CUDA calls are ordered on a stream and return immediately.
// CPU calls return when the work is done.
#pragma once

#include <memory>
#include <string_view>

#include "kernels/operators.h"
#include "kernels/parallel.h"

namespace meshwright::kernels {

class Kernels {
 public:
  virtual ~Kernels() = default;

  virtual void Run(const RmsNormForward& args) const = 0;
  virtual void Run(const RmsNormBackward& args) const = 0;
  virtual void Run(const LayerNormForward& args) const = 0;
  virtual void Run(const LayerNormBackward& args) const = 0;
  virtual void Run(const HeadNormForward& args) const = 0;
  virtual void Run(const HeadNormBackward& args) const = 0;
  virtual void Run(const SwigluForward& args) const = 0;
  virtual void Run(const SwigluBackward& args) const = 0;
  virtual void Run(const RouterForward& args) const = 0;
  virtual void Run(const RouterBackward& args) const = 0;
  virtual void Run(const GatherRows& args) const = 0;
  virtual void Run(const ScatterRows& args) const = 0;
  virtual void Run(const SumRows& args) const = 0;
  virtual void Run(const ExpertSwigluForward& args) const = 0;
  virtual void Run(const ExpertSwigluBackward& args) const = 0;
  virtual void Run(const WeighedBias& args) const = 0;
  virtual void Run(const WeighedBiasBackward& args) const = 0;
  virtual void Run(const ActivationForward& args) const = 0;
  virtual void Run(const ActivationBackward& args) const = 0;
  virtual void Run(const BiasGradient& args) const = 0;
  virtual void Run(const Rope& args) const = 0;
  virtual void Run(const AttentionMerge& args) const = 0;
  virtual void Run(const AttentionSink& args) const = 0;
  virtual void Run(const AttentionSinkGradient& args) const = 0;
  virtual void Run(const CrossEntropyStatistics& args) const = 0;
  virtual void Run(const CrossEntropyRescale& args) const = 0;
  virtual void Run(const CrossEntropyLoss& args) const = 0;
  virtual void Run(const CrossEntropyBackward& args) const = 0;
  virtual void Run(const EmbeddingForward& args) const = 0;
  virtual void Run(const EmbeddingBackward& args) const = 0;
  virtual void Run(const Accumulate& args) const = 0;
  virtual void Run(const SumOfSquares& args) const = 0;
  virtual void Run(const RandomNormal& args) const = 0;
  virtual void Run(const AdamW& args) const = 0;
  virtual void Run(const Quantise& args) const = 0;
  virtual void Run(const Dequantise& args) const = 0;
};

// Returns kernels for the best instruction set of this machine.
std::unique_ptr<Kernels> MakeCpuKernels(Parallel parallel);
// Returns kernels for the given instruction set: "base", "v3" (AVX2) or "v4" (AVX-512). Returns
// null if this machine lacks it.
std::unique_ptr<Kernels> MakeCpuKernels(Parallel parallel, std::string_view instruction_set);

// Returns kernels that run on the stream (a cudaStream_t) that `current_stream` returns at each
// call. Exists only in builds with CUDA.
std::unique_ptr<Kernels> MakeCudaKernels(void* (*current_stream)());

}  // namespace meshwright::kernels
