// Benchmark cases of the fused operators, on buffers far larger than caches, for any device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/kernels.h"

namespace meshwright::kernels {

// BenchMemory allocates memory of the device, filled so that pages exist and no value is special.
class BenchMemory {
 public:
  virtual ~BenchMemory() = default;

  // Returns ones of the given type.
  void* Elements(ElementType type, int64_t count);
  // Returns ones of the type that operators on `type` compute in.
  void* Accumulators(ElementType type, int64_t count);
  double* Doubles(int64_t count);
  int32_t* Integers(const std::vector<int32_t>& values);

 private:
  // Returns `times` consecutive copies of `pattern`, valid for the life of this object.
  virtual void* Repeat(const void* pattern, int64_t pattern_bytes, int64_t times) = 0;
};

struct BenchCase {
  std::function<void(const Kernels&)> run;
  int64_t bytes = 0;  // that a run has to move: every input read once, every output written once
};

// The widths of a model that operators see on one rank.
struct BenchModel {
  std::string name;  // empty where there is only one
  int64_t hidden = 0;
  int64_t ffn = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t vocab = 0;
};

// Sizes of activations and of flat buffers; both should be far beyond the device's caches.
struct BenchShape {
  int64_t tokens = 0;
  int64_t parameters = 0;
  BenchModel model;
};

struct BenchOperator {
  const char* name;
  BenchCase (*make)(BenchMemory& memory, ElementType type, const BenchShape& shape);
  bool of_model = true;  // whether it depends on the model's widths
};

const std::vector<BenchOperator>& BenchOperators();

int64_t ElementSize(ElementType type);
const char* ElementName(ElementType type);

}  // namespace meshwright::kernels
