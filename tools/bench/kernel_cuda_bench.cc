// Measures the rates of the fused operators on the first CUDA device, with the widths of several
// models: bytes that each has to move per second, and that rate as a share of the device's own copy
// bandwidth. Timed by events on the device; rates are those of the fastest run.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "planner/catalog/catalog.h"
#include "tools/bench/operator_rates.h"

namespace meshwright::kernels {
namespace {

void Check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Activations of the smallest model are twice as large as an H100's caches.
constexpr int64_t kTokens = 32768;
constexpr int64_t kParameters = 128 << 20;
constexpr const char* kModels[] = {"llama-3.2-1b", "llama-3.2-3b", "llama-3-8b"};

class DeviceMemory final : public BenchMemory {
 public:
  ~DeviceMemory() override {
    for (void* block : blocks_) cudaFree(block);
  }

  void* Allocate(int64_t bytes) {
    Check(cudaMalloc(&blocks_.emplace_back(), static_cast<size_t>(bytes)));
    return blocks_.back();
  }

 private:
  void* Repeat(const void* pattern, int64_t pattern_bytes, int64_t times) override {
    const int64_t bytes = pattern_bytes * times;
    auto* block = static_cast<char*>(Allocate(bytes));
    Check(cudaMemcpy(block, pattern, static_cast<size_t>(pattern_bytes), cudaMemcpyHostToDevice));
    // Each copy doubles the filled part.
    for (int64_t filled = pattern_bytes; filled < bytes; filled *= 2) {
      Check(cudaMemcpy(block + filled, block, static_cast<size_t>(std::min(filled, bytes - filled)),
                       cudaMemcpyDeviceToDevice));
    }
    return block;
  }

  std::vector<void*> blocks_;
};

// Measures what is issued between two events on the default stream.
class Stopwatch {
 public:
  Stopwatch() {
    Check(cudaEventCreate(&begin_));
    Check(cudaEventCreate(&end_));
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  template <typename Body>
  double SecondsOf(const Body& body) {
    Check(cudaEventRecord(begin_));
    body();
    Check(cudaEventRecord(end_));
    Check(cudaEventSynchronize(end_));
    float took_ms = 0.0f;
    Check(cudaEventElapsedTime(&took_ms, begin_, end_));
    return static_cast<double>(took_ms) * 1e-3;
  }

 private:
  cudaEvent_t begin_;
  cudaEvent_t end_;
};

// Returns bytes read and written per second by copies on the device, best of a few.
double CopyBytesPerS() {
  static const double rate = [] {
    constexpr int64_t kBytes = int64_t{2} << 30;
    DeviceMemory memory;
    void* from = memory.Allocate(kBytes);
    void* to = memory.Allocate(kBytes);
    Stopwatch stopwatch;
    double best_s = 1e9;
    for (int i = 0; i < 20; ++i) {
      best_s = std::min(best_s, stopwatch.SecondsOf([&] {
        Check(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice));
      }));
    }
    return 2.0 * kBytes / best_s;
  }();
  return rate;
}

std::vector<BenchModel> Models() {
  std::vector<BenchModel> models;
  for (const char* name : kModels) {
    const planner::ModelSpec model = planner::FindModel(name).value();
    models.push_back({.name = name,
                      .hidden = model.hidden,
                      .ffn = model.groups.front().ffn.hidden,
                      .heads = model.groups.front().attention.heads,
                      .head_dim = model.groups.front().attention.head_dim,
                      .vocab = model.vocab});
  }
  return models;
}

// Returns whether there is a device; prints why not.
bool HasDevice() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) return true;
  std::fprintf(stderr, "kernel_cuda_bench: no CUDA device: %s\n", cudaGetErrorString(error));
  return false;
}

}  // namespace
}  // namespace meshwright::kernels

int main(int argc, char** argv) {
  using namespace meshwright::kernels;
  if (!HasDevice()) return 1;
  RegisterOperators(
      {.tokens = kTokens,
       .parameters = kParameters,
       .models = Models(),
       .make_memory = [] { return std::make_unique<DeviceMemory>(); },
       .make_kernels = [] { return MakeCudaKernels([]() -> void* { return nullptr; }); },
       .seconds_of = [](const std::function<void()>& body) { return Stopwatch().SecondsOf(body); },
       .copy_bytes_per_s = CopyBytesPerS});
  return RunBenchmarks(argc, argv);
}
