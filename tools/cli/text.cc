#include "tools/cli/text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "planner/report/amounts.h"

namespace meshwright {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr double kMib = 1024.0 * 1024.0;

bool IsNumber(const std::string& cell) {
  return !cell.empty() && (absl::ascii_isdigit(static_cast<unsigned char>(cell[0])) ||
                           cell[0] == '-' || cell[0] == '+');
}

}  // namespace

std::string FormatCount(int64_t value) { return Grouped(value); }

std::string FormatGib(int64_t bytes) {
  return absl::StrFormat("%.2f", static_cast<double>(bytes) / kGib);
}

std::string FormatBytes(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= kGib) return absl::StrFormat("%.2f GiB", value / kGib);
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

void Table::Print(std::ostream& out) const {
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string& cell = rows_[r][i];
      // A header stands over its column as the first cell below it does.
      const std::string& model = r == 0 && rows_.size() > 1 ? rows_[1][i] : cell;
      const std::string pad(widths[i] - cell.size(), ' ');
      line += (i == 0 ? "" : "  ");
      line += IsNumber(model) ? pad + cell : cell + pad;
    }
    absl::StripTrailingAsciiWhitespace(&line);
    out << line << '\n';
  }
}

std::string FormatFlops(double flops_per_s) {
  if (flops_per_s >= 1e12) return absl::StrFormat("%.1f TFLOP/s", flops_per_s / 1e12);
  return absl::StrFormat("%.1f GFLOP/s", flops_per_s / 1e9);
}

}  // namespace meshwright
