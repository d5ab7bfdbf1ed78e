// These functions format amounts for sentences.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"

namespace meshwright {

inline constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;

inline std::string Gib(int64_t bytes) {
  return absl::StrFormat("%.2f GiB", static_cast<double>(bytes) / kBytesPerGib);
}

inline std::string Percent(double fraction) { return absl::StrFormat("%.1f %%", fraction * 100.0); }

inline std::string Seconds(double seconds) {
  return seconds >= 1.0 ? absl::StrFormat("%.2f s", seconds)
                        : absl::StrFormat("%.1f ms", seconds * 1e3);
}

inline std::string Duration(double seconds) {
  constexpr double kHour = 3600.0;
  constexpr double kDay = 24.0 * kHour;
  if (seconds >= kDay) return absl::StrFormat("%.1f days", seconds / kDay);
  if (seconds >= kHour) return absl::StrFormat("%.1f h", seconds / kHour);
  return Seconds(seconds);
}

// Returns the value with its digits in groups of three, such as 1,234,567.
inline std::string Grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (auto i = static_cast<int64_t>(digits.size()) - 3; i > (value < 0 ? 1 : 0); i -= 3) {
    digits.insert(static_cast<size_t>(i), ",");
  }
  return digits;
}

}  // namespace meshwright
