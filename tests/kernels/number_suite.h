// These functions test implementations of the operators on numbers that pseudo-random operands
// lack: halfway cases of rounding, NaN and infinity, and arguments far from 0.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "tests/kernels/memory.h"
#include "tests/kernels/operator_cases.h"
#include "tests/kernels/reference/reference_kernels.h"

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

// Returns fp32 numbers with every upper half of 16 bits. The lower halves are at and near the ends
// and the middle of their range.
inline std::vector<float> NumbersAroundEveryBf16() {
  std::vector<float> numbers;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      numbers.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  return numbers;
}

// Tests rounding to bf16 with an optimizer step at learning rate 0, which rounds the master weights
// to the weights and leaves the master weights unchanged.
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
    // Stops after a few failures, which suffice to show the mistake.
    ASSERT_LT(++mistakes, 10);
    ADD_FAILURE() << std::bit_cast<uint32_t>(master[i]) << " became " << rounded[i].bits << ", not "
                  << expected.bits;
  }
}

// Returns gates of both signs, from 0 to the largest fp32 numbers.
inline std::vector<float> GatesOfEverySize() {
  std::vector<float> gates = {0.0f, -0.0f};
  for (int step = 0; step < 497; ++step) {
    const auto size = static_cast<float>(1e-30 * std::pow(1.37, step));
    gates.insert(gates.end(), {size, -size});
  }
  // Near these gates, exp(-gate) leaves the range of the GPU's reciprocal and the range of fp32.
  for (int quarters = 320; quarters < 440; ++quarters) {
    const float size = 0.25f * static_cast<float>(quarters);
    gates.insert(gates.end(), {size, -size});
  }
  return gates;
}

// Returns the fp32 error that kernels/cuda/swiglu.cu states, with a margin for the products.
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

// Returns all E4M3 numbers, the midpoints between them, and the nearest neighbours of all these in
// type T, with both signs. Also returns NaN, infinity, and numbers beyond the largest E4M3 number.
template <typename T>
std::vector<T> NumbersAroundEveryE4m3() {
  std::vector<T> numbers = {T(NAN), T(INFINITY), T(-INFINITY), T(0), T(-0.0), T(1e30), T(-449)};
  for (int code = 0; code < 0x7e; ++code) {
    const T value = FromE4m3(static_cast<uint8_t>(code));
    const T halfway = (value + T(FromE4m3(static_cast<uint8_t>(code + 1)))) / 2;
    for (const T number : {value, halfway}) {
      for (const T beside :
           {std::nextafter(number, T(-INFINITY)), number, std::nextafter(number, T(INFINITY))}) {
        numbers.insert(numbers.end(), {beside, -beside});
      }
    }
  }
  return numbers;
}

// Returns tiles of two numbers. Each number of NumbersAroundEveryE4m3() is in tiles with another
// number that makes the scale 1 or a small or large power of two. There is also a tile of zeros,
// and there are tiles whose largest number is at or near a change of scale.
template <typename T>
std::vector<T> TilesOfEveryKind(int64_t* columns) {
  constexpr int64_t kWidth = 2;
  std::vector<T> tiles;
  const auto add = [&](T one, T other) { tiles.insert(tiles.end(), {one, other}); };
  for (const T number : NumbersAroundEveryE4m3<T>()) {
    for (const T scale : {T(0x1p-100), T(0.25), T(1), T(0x1p60)}) add(number * scale, 448 * scale);
  }
  add(0, T(-0.0));
  for (const T most : {T(448), T(1.75), T(0x1p-120), T(0x1p-140), T(3e38)}) {
    for (const T beside : {std::nextafter(most, T(0)), most, std::nextafter(most, T(INFINITY))}) {
      add(beside, beside / 3);
    }
  }
  *columns = kWidth;
  return tiles;
}

template <typename T>
void ExpectTheReferencesE4m3(const Kernels& kernels, Memory& memory, ElementType type) {
  int64_t columns = 0;
  const std::vector<T> tiles = TilesOfEveryKind<T>(&columns);
  const auto rows = static_cast<int64_t>(tiles.size()) / columns;
  const auto run = [&](const Kernels& of, Memory& in) {
    auto* values = Uploaded(in, std::vector<uint8_t>(tiles.size()));
    auto* scales = Uploaded(in, std::vector<float>(static_cast<size_t>(rows)));
    of.Run(Quantise{.type = type,
                    .tiles = ScaleTiles::kRows,
                    .rows = rows,
                    .columns = columns,
                    .x = Uploaded(in, tiles),
                    .x_stride = columns,
                    .values = values,
                    .scales = scales});
    return std::pair(Downloaded(in, values, tiles.size()),
                     Downloaded(in, scales, static_cast<size_t>(rows)));
  };
  HostMemory host;
  const auto expected = run(*MakeReferenceKernels(), host);
  const auto actual = run(kernels, memory);
  EXPECT_EQ(actual.second, expected.second);
  int64_t mistakes = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    if (actual.first[i] == expected.first[i]) continue;
    ASSERT_LT(++mistakes, 10);
    ADD_FAILURE() << tiles[i] << " in scales of " << expected.second[i / 2] << " became "
                  << int{actual.first[i]} << ", not " << int{expected.first[i]};
  }
}

// Expects bitwise the same numbers and scales as the reference's.
inline void ExpectE4m3OfEveryKind(const Kernels& kernels, Memory& memory) {
  ExpectTheReferencesE4m3<float>(kernels, memory, ElementType::kFp32);
  ExpectTheReferencesE4m3<double>(kernels, memory, ElementType::kFp64);
}

// Expects bitwise the same results for matrices, in tiles of every shape.
inline void ExpectTheReferencesTiles(const Kernels& kernels, Memory& memory) {
  for (const OperatorCase& operator_case : QuantiseOperatorCases()) {
    for (const ElementType type : kElementTypes) {
      HostMemory host;
      EXPECT_EQ(operator_case.run(kernels, memory, type),
                operator_case.run(*MakeReferenceKernels(), host, type))
          << operator_case.name << " " << TypeName(type);
    }
  }
}

// Tests parts of a tensor that begin at an odd element and have rows of odd and even length.
inline void ExpectTheReferencesNormals(const Kernels& kernels, Memory& memory) {
  for (const int64_t columns : {1, 2, 511, 700}) {
    const auto run = [&](const Kernels& of, Memory& in) {
      constexpr int64_t kRows = 65;
      const auto count = static_cast<size_t>(kRows * columns);
      auto* values = Uploaded(in, std::vector<float>(count));
      of.Run(RandomNormal{.key = 0x1234567890abcdefu,
                          .begin = 3,
                          .rows = kRows,
                          .columns = columns,
                          .stride = columns + 2,
                          .deviation = 0.5f,
                          .values = values});
      return Downloaded(in, values, count);
    };
    HostMemory host;
    const std::vector<float> expected = run(*MakeReferenceKernels(), host);
    const std::vector<float> actual = run(kernels, memory);
    for (size_t i = 0; i < actual.size(); ++i) {
      // The angle of up to 2 pi is rounded to fp32 before its sine is taken, and the radius is up
      // to 6.
      ASSERT_NEAR(actual[i], expected[i], 2e-6) << columns << " columns, value " << i;
    }
  }
}

}  // namespace meshwright::kernels
