// Get() and Set() read and write single elements of any type as doubles.
#pragma once

#include <cstdint>

#include "kernels/element.h"

namespace meshwright::kernels {

inline double Get(ElementType type, const void* data, int64_t index) {
  switch (type) {
    case ElementType::kFp32:
      return static_cast<const float*>(data)[index];
    case ElementType::kBf16:
      return Widen(static_cast<const Bf16*>(data)[index]);
    case ElementType::kFp64:
      return static_cast<const double*>(data)[index];
  }
  return 0.0;
}

inline void Set(ElementType type, void* data, int64_t index, double value) {
  switch (type) {
    case ElementType::kFp32:
      static_cast<float*>(data)[index] = static_cast<float>(value);
      return;
    case ElementType::kBf16:
      Narrow(static_cast<float>(value), static_cast<Bf16*>(data)[index]);
      return;
    case ElementType::kFp64:
      static_cast<double*>(data)[index] = value;
      return;
  }
}

inline ElementType AccumulatorType(ElementType type) {
  return type == ElementType::kFp64 ? ElementType::kFp64 : ElementType::kFp32;
}

inline double GetAcc(ElementType type, const void* data, int64_t index) {
  return Get(AccumulatorType(type), data, index);
}

inline void SetAcc(ElementType type, void* data, int64_t index, double value) {
  Set(AccumulatorType(type), data, index, value);
}

inline void AddAcc(ElementType type, void* data, int64_t index, double value) {
  SetAcc(type, data, index, GetAcc(type, data, index) + value);
}

}  // namespace meshwright::kernels
