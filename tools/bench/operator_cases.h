// The fused operators on buffers far larger than caches, for benchmarks on any device.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/kernels.h"

namespace meshwright::kernels {

// Memory of the device. It is filled, so that pages exist and no value is special.
class BenchMemory {
 public:
  virtual ~BenchMemory() = default;

  // Ones of the given type.
  void* Elements(ElementType type, int64_t count);
  // Ones of the type that operators on `type` compute in.
  void* Accumulators(ElementType type, int64_t count);
  double* Doubles(int64_t count);
  // `count`, a multiple of kBenchVocab, of a vocabulary of that size.
  int32_t* Tokens(int64_t count);

 private:
  // `times` copies of `pattern` one after the other, for as long as this lives.
  virtual void* Repeat(const void* pattern, int64_t pattern_bytes, int64_t times) = 0;
};

struct BenchCase {
  std::function<void(const Kernels&)> run;
  int64_t bytes = 0;  // that a run has to move: every input read once, every output written once
};

// Of activations and of flat buffers; both should be far beyond the device's caches.
struct BenchShape {
  int64_t tokens = 0;  // a multiple of kBenchVocab
  int64_t parameters = 0;
};

inline constexpr int64_t kBenchVocab = 4096;

struct BenchOperator {
  const char* name;
  BenchCase (*make)(BenchMemory& memory, ElementType type, const BenchShape& shape);
};

const std::vector<BenchOperator>& BenchOperators();

int64_t ElementSize(ElementType type);
const char* ElementName(ElementType type);

}  // namespace meshwright::kernels
