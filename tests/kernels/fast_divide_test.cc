#include "kernels/cuda/fast_divide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace meshwright::kernels::cuda {
namespace {

constexpr uint32_t kLargest = (uint32_t{1} << 31) - 1;

// Counts instead of an expectation per number: there are millions.
int64_t Mistakes(uint32_t divisor, const std::vector<uint32_t>& numbers) {
  const FastDivide divide(divisor);
  return std::count_if(numbers.begin(), numbers.end(), [&](uint32_t number) {
    return divide.Quotient(number) != number / divisor ||
           divide.Remainder(number) != number % divisor;
  });
}

// Pseudo-random numbers of any length up to 31 bits.
std::vector<uint32_t> Numbers(size_t count) {
  std::vector<uint32_t> numbers;
  uint64_t state = 7;
  while (numbers.size() < count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    numbers.push_back(static_cast<uint32_t>(state >> 33) >> (state >> 20 & 31));
  }
  return numbers;
}

// Powers of two with their neighbours, and other divisors.
std::vector<uint32_t> Divisors() {
  std::vector<uint32_t> divisors = {kLargest};
  for (uint32_t power = 1; power <= uint32_t{1} << 30; power *= 2) {
    for (const uint32_t divisor : {power - 1, power, power + 1}) divisors.push_back(divisor);
  }
  for (const uint32_t divisor : Numbers(500)) divisors.push_back(divisor);
  std::erase(divisors, 0u);
  return divisors;
}

TEST(FastDivideTest, IsExactForSmallNumbersAndDivisors) {
  std::vector<uint32_t> numbers;
  numbers.reserve(5000);
  for (uint32_t number = 0; number < 5000; ++number) numbers.push_back(number);
  for (uint32_t divisor = 1; divisor < 1000; ++divisor) {
    ASSERT_EQ(Mistakes(divisor, numbers), 0) << divisor;
  }
}

// A quotient can only be wrong beside a multiple of the divisor.
TEST(FastDivideTest, IsExactBesideMultiples) {
  const std::vector<uint32_t> factors = Numbers(2000);
  for (const uint32_t divisor : Divisors()) {
    std::vector<uint32_t> numbers = {0, kLargest - 1, kLargest, kLargest / divisor * divisor};
    for (const uint32_t factor : factors) {
      const uint32_t multiple = factor % (kLargest / divisor + 1) * divisor;
      numbers.insert(numbers.end(), {multiple, multiple > 0 ? multiple - 1 : 0,
                                     multiple < kLargest ? multiple + 1 : kLargest});
    }
    ASSERT_EQ(Mistakes(divisor, numbers), 0) << divisor;
  }
}

TEST(FastDivideTest, RefusesDivisorsThatItCannotDivideBy) {
  EXPECT_THROW(FastDivide(0), std::out_of_range);
  EXPECT_THROW(FastDivide(-1), std::out_of_range);
  EXPECT_THROW(FastDivide(int64_t{1} << 31), std::out_of_range);
}

}  // namespace
}  // namespace meshwright::kernels::cuda
