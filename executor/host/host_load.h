// These functions say how busy this machine's processors are.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace meshwright::host {

// The time of all hardware threads since the machine started, in the kernel's ticks.
struct ProcessorTimes {
  int64_t idle_ticks = 0;  // with nothing to run, or waiting for a disk
  int64_t total_ticks = 0;
};

// Returns the times in a text of /proc/stat. Returns DataLoss if the text has another form.
absl::StatusOr<ProcessorTimes> ParseProcessorTimes(std::string_view proc_stat);

// Returns the share of the time between two readings in which the hardware threads were idle: 0 to
// 1, and 1 if no time passed.
double IdleShare(const ProcessorTimes& before, const ProcessorTimes& after);

// Reads /proc/stat before and after `wait` and returns the idle share between them; 1 if the file
// can't be read.
double IdleShareDuring(absl::FunctionRef<void()> wait);

}  // namespace meshwright::host
