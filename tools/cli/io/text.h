// These functions format numbers with units for people. The comments show examples.
#pragma once

#include <cstdint>
#include <string>

namespace meshwright::cli {

std::string FormatCount(int64_t value);       // 1,234,567
std::string FormatGib(int64_t bytes);         // 12.34
std::string FormatBytes(int64_t bytes);       // 12.34 GiB, 45.6 MiB, 789 B
std::string FormatSeconds(double seconds);    // 12.3 s, 45.6 ms, 7.8 us
std::string FormatPercent(double fraction);   // 45.6 %
std::string FormatParameters(int64_t count);  // 12.34 B, 45.6 M, as in names of models
std::string FormatFlops(double flops_per_s);  // 12.3 TFLOP/s, 45.6 GFLOP/s

}  // namespace meshwright::cli
