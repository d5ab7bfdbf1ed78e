// BenchOperators() lists the benchmark cases of the fused operators, for any device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/kernels.h"

namespace meshwright::kernels {

// BenchMemory allocates memory of the device and fills it, so that all pages are mapped and no
// value is special (0, infinite, …).
class BenchMemory {
 public:
  virtual ~BenchMemory() = default;

  // Returns `count` ones of the given type.
  void* Elements(ElementType type, int64_t count);
  // Returns `count` ones of the accumulator type of operators on `type`.
  void* Accumulators(ElementType type, int64_t count);
  double* Doubles(int64_t count);
  int32_t* Integers(const std::vector<int32_t>& values);

 private:
  // Returns `times` consecutive copies of `pattern`, valid for the life of this object.
  virtual void* Repeat(const void* pattern, int64_t pattern_bytes, int64_t times) = 0;
};

struct BenchCase {
  std::function<void(const Kernels&)> run;
  int64_t bytes = 0;  // bytes that a run must move: each input read once, each output written once
};

// The widths of a model that operators see on one rank.
struct BenchModel {
  std::string name;  // empty if there is only one model
  int64_t hidden = 0;
  int64_t ffn = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t vocab = 0;
};

// Sizes of activations (`tokens`) and of flat buffers (`parameters`). Both should be far larger
// than the device's caches.
struct BenchShape {
  int64_t tokens = 0;
  int64_t parameters = 0;
  BenchModel model;
};

struct BenchOperator {
  const char* name;
  BenchCase (*make)(BenchMemory& memory, ElementType type, const BenchShape& shape);
  bool of_model = true;  // whether its cases depend on the model's widths
};

const std::vector<BenchOperator>& BenchOperators();

int64_t ElementSize(ElementType type);
const char* ElementName(ElementType type);

}  // namespace meshwright::kernels
