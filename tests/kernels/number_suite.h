// What implementations of the operators make of numbers that pseudo-random operands don't have:
// halfway cases of rounding, NaN and infinity, and arguments far from 0.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/kernels.h"
#include "tests/kernels/memory.h"

namespace meshwright::kernels {

template <typename T>
T* Uploaded(Memory& memory, const std::vector<T>& values) {
  auto* data = static_cast<T*>(memory.Allocate(values.size() * sizeof(T)));
  memory.Upload(data, values.data(), values.size() * sizeof(T));
  return data;
}

template <typename T>
std::vector<T> Downloaded(Memory& memory, const T* data, size_t count) {
  std::vector<T> values(count);
  memory.Download(values.data(), data, count * sizeof(T));
  return values;
}

// Every upper half of an fp32 number, with lower halves at and beside the ends and the middle.
inline std::vector<float> NumbersAroundEveryBf16() {
  std::vector<float> numbers;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      numbers.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  return numbers;
}

// An optimizer step of length 0 rounds the master weights and leaves them alone.
inline void ExpectBf16OfEveryKind(const Kernels& kernels, Memory& memory) {
  const std::vector<float> master = NumbersAroundEveryBf16();
  const std::vector<float> zeros(master.size());
  auto* weights = Uploaded(memory, std::vector<Bf16>(master.size()));
  kernels.Run(AdamW{.type = ElementType::kBf16,
                    .count = static_cast<int64_t>(master.size()),
                    .learning_rate = 0.0,
                    .beta1 = 0.9,
                    .beta2 = 0.95,
                    .epsilon = 1e-8,
                    .weight_decay = 0.0,
                    .step = 1,
                    .gradient = Uploaded(memory, zeros),
                    .first_moment = Uploaded(memory, zeros),
                    .second_moment = Uploaded(memory, zeros),
                    .master = Uploaded(memory, master),
                    .weights = weights});
  const std::vector<Bf16> rounded = Downloaded(memory, weights, master.size());
  int64_t mistakes = 0;
  for (size_t i = 0; i < master.size(); ++i) {
    Bf16 expected;
    Narrow(master[i], expected);
    const bool right =
        std::isnan(master[i]) ? std::isnan(Widen(rounded[i])) : rounded[i].bits == expected.bits;
    if (right) continue;
    // A few are enough to see what is wrong.
    ASSERT_LT(++mistakes, 10);
    ADD_FAILURE() << std::bit_cast<uint32_t>(master[i]) << " became " << rounded[i].bits << ", not "
                  << expected.bits;
  }
}

// Of either sign, from 0 to the largest fp32 numbers.
inline std::vector<float> GatesOfEverySize() {
  std::vector<float> gates = {0.0f, -0.0f};
  for (float size = 1e-30f; size < 1e38f; size *= 1.37f) gates.insert(gates.end(), {size, -size});
  // Where exp(-gate) leaves the range that the device's reciprocal takes, and that of fp32.
  for (float size = 80.0f; size < 110.0f; size += 0.25f) gates.insert(gates.end(), {size, -size});
  return gates;
}

// The fp32 error that kernels/cuda/swiglu.cu names, and room for the products.
inline double SigmoidTolerance(double gate) {
  constexpr double kUlp = 0x1p-23;
  return (8.0 + 1.2 * std::min(std::abs(gate), 110.0)) * kUlp;
}

inline void ExpectSwigluOfEveryGate(const Kernels& kernels, Memory& memory) {
  const std::vector<float> gates = GatesOfEverySize();
  const size_t count = gates.size();
  std::vector<float> gate_up = gates;
  gate_up.resize(2 * count, 1.0f);
  auto* in_place = Uploaded(memory, gate_up);
  auto* product = Uploaded(memory, std::vector<float>(count));
  kernels.Run(SwigluForward{.type = ElementType::kFp32,
                            .rows = 1,
                            .width = static_cast<int64_t>(count),
                            .gate_up = in_place,
                            .product = product});
  kernels.Run(SwigluBackward{.type = ElementType::kFp32,
                             .rows = 1,
                             .width = static_cast<int64_t>(count),
                             .dproduct = Uploaded(memory, std::vector<float>(count, 1.0f)),
                             .gate_up = in_place});
  const std::vector<float> products = Downloaded(memory, product, count);
  const std::vector<float> gradients = Downloaded(memory, in_place, 2 * count);
  for (size_t i = 0; i < count; ++i) {
    const double gate = gates[i];
    const double sigmoid = 1.0 / (1.0 + std::exp(-gate));
    const double silu = gate * sigmoid;
    // Products below the smallest normal number may be 0.
    const double tolerance = SigmoidTolerance(gate) * std::abs(silu) + 1.3e-36;
    EXPECT_NEAR(products[i], silu, tolerance) << gate;
    EXPECT_NEAR(gradients[count + i], silu, tolerance) << gate;
    EXPECT_NEAR(gradients[i], sigmoid * (1.0 + gate * (1.0 - sigmoid)), 4e-6) << gate;
  }
}

}  // namespace meshwright::kernels
