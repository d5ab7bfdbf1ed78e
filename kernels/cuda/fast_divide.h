// FastDivide divides 31-bit numbers by a divisor known before a kernel starts.
//
// GPUs have no division instruction: a 32-bit division takes about twenty instructions, a 64-bit
// one about a hundred. With a divisor prepared on the host, a division is a multiplication, an
// addition and a shift.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/element.h"

namespace meshwright::kernels::cuda {

class FastDivide {
 public:
  // Throws if `divisor` is not in [1, 2^31).
  explicit FastDivide(int64_t divisor) : divisor_(Checked(divisor)) {
    shift_ = static_cast<uint32_t>(std::bit_width(divisor_ - 1));
    const uint64_t excess = (uint64_t{1} << shift_) - divisor_;
    multiplier_ = static_cast<uint32_t>((excess << 32) / divisor_ + 1);
  }

  // Returns number / divisor, exact for numbers below 2^31 (Granlund and Montgomery, "Division by
  // Invariant Integers using Multiplication", PLDI 1994; the sum fits in 32 bits because numbers
  // have 31).
  MESHWRIGHT_HOST_DEVICE uint32_t Quotient(uint32_t number) const {
    const auto high = static_cast<uint32_t>(uint64_t{number} * multiplier_ >> 32);
    return (high + number) >> shift_;
  }
  // Returns number % divisor.
  MESHWRIGHT_HOST_DEVICE uint32_t Remainder(uint32_t number) const {
    return number - Quotient(number) * divisor_;
  }
  MESHWRIGHT_HOST_DEVICE uint32_t divisor() const { return divisor_; }

 private:
  static uint32_t Checked(int64_t divisor) {
    if (divisor >= 1 && divisor < int64_t{1} << 31) return static_cast<uint32_t>(divisor);
    throw std::out_of_range("CUDA kernel: a size of " + std::to_string(divisor) +
                            "; from 1 to 2^31 - 1 is possible");
  }

  uint32_t divisor_;
  uint32_t multiplier_ = 0;
  uint32_t shift_ = 0;
};

}  // namespace meshwright::kernels::cuda
