#include "tools/cli/io/text.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "base/text/amounts.h"

namespace meshwright::cli {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

}  // namespace

std::string FormatCount(int64_t value) { return Grouped(value); }

std::string FormatGib(int64_t bytes) {
  return absl::StrFormat("%.2f", static_cast<double>(bytes) / kBytesPerGib);
}

std::string FormatBytes(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= kBytesPerGib) return absl::StrFormat("%.2f GiB", value / kBytesPerGib);
  if (value >= kMib) return absl::StrFormat("%.1f MiB", value / kMib);
  if (value >= 1024.0) return absl::StrFormat("%.1f KiB", value / 1024.0);
  return absl::StrFormat("%d B", bytes);
}

std::string FormatSeconds(double seconds) {
  if (seconds >= 100.0) return absl::StrFormat("%.0f s", seconds);
  if (seconds >= 1.0) return absl::StrFormat("%.2f s", seconds);
  if (seconds >= 1e-3) return absl::StrFormat("%.1f ms", seconds * 1e3);
  if (seconds > 0.0) return absl::StrFormat("%.1f us", seconds * 1e6);
  return "0 s";
}

std::string FormatPercent(double fraction) { return Percent(fraction); }

std::string FormatParameters(int64_t count) {
  const auto parameters = static_cast<double>(count);
  return parameters >= 1e9 ? absl::StrFormat("%.2f B", parameters / 1e9)
                           : absl::StrFormat("%.1f M", parameters / 1e6);
}

std::string FormatFlops(double flops_per_s) {
  if (flops_per_s >= 1e12) return absl::StrFormat("%.1f TFLOP/s", flops_per_s / 1e12);
  return absl::StrFormat("%.1f GFLOP/s", flops_per_s / 1e9);
}

}  // namespace meshwright::cli
