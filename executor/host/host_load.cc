#include "executor/host/host_load.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace meshwright::host {
namespace {

// The columns of the line "cpu": user, nice, system, idle, iowait, irq, softirq, steal. The kernel
// counts the columns behind these in `user` and `nice` too.
constexpr size_t kIdleColumn = 3;
constexpr size_t kWaitColumn = 4;
constexpr size_t kColumns = 8;

absl::StatusOr<ProcessorTimes> ReadProcessorTimes() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  return ParseProcessorTimes(line);
}

}  // namespace

absl::StatusOr<ProcessorTimes> ParseProcessorTimes(std::string_view proc_stat) {
  std::istringstream words{std::string(proc_stat)};
  std::string name;
  std::vector<int64_t> ticks;
  words >> name;
  for (int64_t column = 0; ticks.size() < kColumns && words >> column;) ticks.push_back(column);
  if (name != "cpu" || ticks.size() <= kWaitColumn) {
    return absl::DataLossError(absl::StrCat("/proc/stat begins with \"", name, "\" and ",
                                            ticks.size(), " numbers; must be \"cpu\" and ",
                                            kColumns));
  }
  ProcessorTimes times;
  for (const int64_t column : ticks) times.total_ticks += column;
  times.idle_ticks = ticks[kIdleColumn] + ticks[kWaitColumn];
  return times;
}

double IdleShare(const ProcessorTimes& before, const ProcessorTimes& after) {
  const int64_t total = after.total_ticks - before.total_ticks;
  if (total <= 0) return 1.0;
  return static_cast<double>(after.idle_ticks - before.idle_ticks) / static_cast<double>(total);
}

double IdleShareDuring(absl::FunctionRef<void()> wait) {
  const absl::StatusOr<ProcessorTimes> before = ReadProcessorTimes();
  wait();
  const absl::StatusOr<ProcessorTimes> after = ReadProcessorTimes();
  return before.ok() && after.ok() ? IdleShare(*before, *after) : 1.0;
}

}  // namespace meshwright::host
