#include "tools/cli/common/benchmark_text.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

std::string FormatRate(double bytes_per_s) {
  if (bytes_per_s >= 1e9) return absl::StrFormat("%.1f GB/s", bytes_per_s / 1e9);
  return absl::StrFormat("%.1f MB/s", bytes_per_s / 1e6);
}

std::string RanksTitle(int32_t ranks) {
  return ranks == 1 ? "1 rank" : absl::StrCat(ranks, " ranks");
}

// Cells of a table by row and column; cells that were not set stay empty.
template <typename Row, typename Column>
class Grid {
 public:
  void Set(const Row& row, const Column& column, const std::string& cell) {
    columns_.insert(column);
    rows_[row][column] = cell;
  }

  void Print(std::vector<std::string> header,
             const std::function<std::vector<std::string>(const Row&)>& row_title,
             const std::function<std::string(const Column&)>& column_title,
             std::ostream& out) const {
    for (const Column& column : columns_) header.push_back(column_title(column));
    Table table(std::move(header));
    for (const auto& [row, cells] : rows_) {
      std::vector<std::string> line = row_title(row);
      for (const Column& column : columns_) {
        const auto cell = cells.find(column);
        line.push_back(cell == cells.end() ? "-" : cell->second);
      }
      table.Add(std::move(line));
    }
    table.Print(out);
  }

 private:
  std::set<Column> columns_;
  std::map<Row, std::map<Column, std::string>> rows_;
};

void PrintMatmuls(const planner::DeviceBenchmark& benchmark, std::ostream& out) {
  using Shape = std::tuple<double, int64_t, int64_t, int64_t>;  // FLOP first, for the order
  using Column = std::tuple<bool, int32_t>;                     // whether bf16, ranks
  Grid<Shape, Column> grid;
  for (const planner::MatmulTiming& timing : benchmark.matmuls) {
    grid.Set({timing.Flops(), timing.m, timing.n, timing.k},
             {timing.precision == planner::Precision::kBf16, timing.ranks},
             absl::StrFormat("%.1f", timing.Flops() / timing.time.best_s / 1e9));
  }
  out << "\nmatrix products, GFLOP/s of each rank at work:\n";
  grid.Print(
      {"m", "n", "k"},
      [](const Shape& shape) {
        return std::vector<std::string>{FormatCount(std::get<1>(shape)),
                                        FormatCount(std::get<2>(shape)),
                                        FormatCount(std::get<3>(shape))};
      },
      [](const Column& column) {
        return absl::StrCat(std::get<0>(column) ? "bf16, " : "fp32, ",
                            RanksTitle(std::get<1>(column)));
      },
      out);
}

void PrintCopies(const planner::DeviceBenchmark& benchmark, std::ostream& out) {
  Grid<int64_t, int32_t> grid;
  for (const planner::CopyTiming& timing : benchmark.copies) {
    // The time to copy a few bytes is the time to start a kernel.
    if (timing.bytes <= 4096) continue;
    grid.Set(
        timing.bytes, timing.ranks,
        absl::StrFormat("%.1f", 2e-9 * static_cast<double>(timing.bytes) / timing.time.best_s));
  }
  out << "\ncopies in memory, GB/s read and written by each rank at work:\n";
  grid.Print(
      {"size"}, [](int64_t bytes) { return std::vector<std::string>{FormatBytes(bytes)}; },
      RanksTitle, out);
}

void PrintCollectives(const planner::DeviceBenchmark& benchmark, std::ostream& out) {
  if (benchmark.collectives.empty()) return;
  // Negated ranks, kind, groups.
  using Column = std::tuple<int32_t, planner::CollectiveKind, int32_t>;
  Grid<int64_t, Column> grid;
  for (const planner::CollectiveTiming& timing : benchmark.collectives) {
    grid.Set(timing.bytes, {-timing.ranks, timing.kind, timing.groups},
             FormatSeconds(timing.time.best_s));
  }
  out << "\ncollectives by the size of the full buffer, and one message one way:\n";
  grid.Print(
      {"size"}, [](int64_t bytes) { return std::vector<std::string>{FormatBytes(bytes)}; },
      [](const Column& column) {
        const auto& [less_ranks, kind, groups] = column;
        return absl::StrCat(std::string(planner::CollectiveKindName(kind)), ", ",
                            groups == 1 ? "" : absl::StrCat(groups, " x "),
                            RanksTitle(-less_ranks));
      },
      out);
}

void PrintProfile(const planner::BenchmarkedCluster& made, std::ostream& out) {
  const planner::ClusterSpec& cluster = made.cluster;
  const planner::HardwareProfile& device = cluster.device;
  out << "\nprofile " << cluster.name << ", of "
      << (planner::SharesCores(cluster.device_kind()) ? "one core" : "one device") << ":\n"
      << "  matmuls  " << FormatFlops(device.peak_fp32_flops) << " fp32, "
      << FormatFlops(device.peak_bf16_flops) << " bf16 at the peak; "
      << FormatPercent(device.matmul_efficiency)
      << " of it reached, half of that at k = " << absl::StrFormat("%.0f", device.matmul_half_k)
      << "; " << FormatPercent(made.matmuls.median) << " off in the median, "
      << FormatPercent(made.matmuls.worst) << " at worst\n"
      << "  memory   " << FormatRate(device.memory_bytes_per_s * device.memory_efficiency)
      << "; a kernel takes " << FormatSeconds(device.kernel_launch_s) << " at least\n";
  if (made.collectives.rows > 0) {
    const planner::LinkProfile& link = cluster.scale_up;
    out << "  link     " << FormatRate(link.AchievedBytesPerS()) << ", "
        << FormatSeconds(link.base_latency_s) << " to start";
    if (cluster.collectives == planner::CollectiveModel::kRing) {
      out << ", " << FormatSeconds(link.hop_latency_s) << " a hop";
    }
    out << "; collectives are " << FormatPercent(made.collectives.median) << " off in the median, "
        << FormatPercent(made.collectives.worst) << " at worst\n";
  }
  out << cluster.source << "\n";
}

}  // namespace

void PrintDeviceBenchmark(const planner::DeviceBenchmark& benchmark,
                          const planner::BenchmarkedCluster& made, std::ostream& out) {
  out << benchmark.host << ": " << benchmark.devices << " x " << benchmark.device_name;
  if (planner::SharesCores(benchmark.device_kind()))
    out << " on " << benchmark.physical_cores << " cores";
  out << ", " << FormatBytes(benchmark.memory_bytes) << " each\n";
  PrintMatmuls(benchmark, out);
  PrintCopies(benchmark, out);
  PrintCollectives(benchmark, out);
  PrintProfile(made, out);
}

std::string SummaryOf(const planner::ClusterSpec& cluster) {
  const planner::HardwareProfile& device = cluster.device;
  return absl::StrCat(FormatFlops(device.peak_fp32_flops), " fp32, ",
                      FormatFlops(device.peak_bf16_flops), " bf16, memory ",
                      FormatRate(device.memory_bytes_per_s * device.memory_efficiency), ", link ",
                      FormatRate(cluster.scale_up.AchievedBytesPerS()));
}

}  // namespace meshwright::cli
