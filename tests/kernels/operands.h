// Operands holds the arrays of one operator call in a test: pseudo-random inputs, and the
// operator's outputs.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/element.h"
#include "tests/kernels/memory.h"

namespace meshwright::kernels {

// Statistics and gradients of weights ("Acc") have the accumulator type.
class Operands {
 public:
  Operands(Memory& memory, ElementType type) : memory_(memory), type_(type) {}

  // Returns `count` random numbers of the case's element type, uniform in [low, high).
  void* Elements(int64_t count, double low = -1.0, double high = 1.0) {
    return Put(type_, Random(count, low, high));
  }
  void* Acc(int64_t count, double low = -1.0, double high = 1.0) {
    return Put(AccType(), Random(count, low, high));
  }
  void* AccOf(const std::vector<double>& values) { return Put(AccType(), values); }
  void* Zeros(int64_t count) {
    return Put(AccType(), std::vector<double>(static_cast<size_t>(count)));
  }
  double* Double(double value) { return PutAs<double>({value}); }
  double* Doubles(int64_t count) { return PutAs<double>(Random(count, -1.0, 1.0)); }
  // Returns `count` random integers from 0 to `end` - 1.
  int32_t* Integers(int64_t count, int32_t end) {
    std::vector<int32_t> values;
    values.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<int32_t>(Next() % end));
    return Integers(values);
  }
  int32_t* Integers(const std::vector<int32_t>& values) {
    return PutAs<int32_t>({values.begin(), values.end()});
  }

  void CollectAcc(const void* data, int64_t count) { Collect(AccType(), data, count); }
  void CollectElements(const void* data, int64_t count) { Collect(type_, data, count); }
  void CollectIntegers(const int32_t* data, int64_t count) { CollectNumbers(data, count); }
  // The types of these arrays do not depend on the case's type.
  float* Floats(int64_t count) { return PutAs<float>(std::vector<double>(Size(count))); }
  uint8_t* Bytes(int64_t count) { return PutAs<uint8_t>(std::vector<double>(Size(count))); }
  void CollectFloats(const float* data, int64_t count) { CollectNumbers(data, count); }
  void CollectBytes(const uint8_t* data, int64_t count) { CollectNumbers(data, count); }
  void CollectValue(double value) { outputs_.push_back(value); }
  std::vector<double> outputs() const { return outputs_; }

 private:
  static size_t Size(int64_t count) { return static_cast<size_t>(count); }
  template <typename T>
  void CollectNumbers(const T* data, int64_t count) {
    std::vector<T> values(Size(count));
    memory_.Download(values.data(), data, values.size() * sizeof(T));
    outputs_.insert(outputs_.end(), values.begin(), values.end());
  }
  ElementType AccType() const {
    return type_ == ElementType::kFp64 ? ElementType::kFp64 : ElementType::kFp32;
  }
  uint64_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  std::vector<double> Random(int64_t count, double low, double high) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) {
      const double unit = static_cast<double>(Next()) / 2147483648.0;
      values.push_back(low + (high - low) * unit);
    }
    return values;
  }

  static void Convert(double value, Bf16& out) { Narrow(static_cast<float>(value), out); }
  template <typename T>
  static void Convert(double value, T& out) {
    out = static_cast<T>(value);
  }
  template <typename T>
  T* PutAs(const std::vector<double>& values) {
    std::vector<T> converted(values.size());
    for (size_t i = 0; i < values.size(); ++i) Convert(values[i], converted[i]);
    void* data = memory_.Allocate(converted.size() * sizeof(T));
    memory_.Upload(data, converted.data(), converted.size() * sizeof(T));
    return static_cast<T*>(data);
  }
  void* Put(ElementType type, const std::vector<double>& values) {
    if (type == ElementType::kFp64) return PutAs<double>(values);
    if (type == ElementType::kBf16) return PutAs<Bf16>(values);
    return PutAs<float>(values);
  }
  template <typename T>
  void CollectAs(const void* data, int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    memory_.Download(values.data(), data, values.size() * sizeof(T));
    for (const T value : values) outputs_.push_back(static_cast<double>(Widen(value)));
  }
  void Collect(ElementType type, const void* data, int64_t count) {
    if (type == ElementType::kFp64) return CollectAs<double>(data, count);
    if (type == ElementType::kBf16) return CollectAs<Bf16>(data, count);
    CollectAs<float>(data, count);
  }

  Memory& memory_;
  const ElementType type_;
  uint64_t state_ = 7;
  std::vector<double> outputs_;
};

}  // namespace meshwright::kernels
