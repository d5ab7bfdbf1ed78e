// kLogFigures is the table of figures that a framework's log may report, in the units that logs
// use.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace meshwright::command {

enum class LoggedQuantity : uint8_t {
  kStep,        // number of the step
  kTime,        // of a step, seconds
  kTokenRate,   // tokens per second of all ranks
  kRankRate,    // tokens per second and rank
  kSampleRate,  // sequences per second of all ranks
  kLoss,
  kPeak  // peak memory of a rank, bytes
};

struct LogFigure {
  std::string_view name;
  LoggedQuantity quantity;
  double factor = 1.0;  // converts from the log's unit
};

inline constexpr std::array kLogFigures = {
    LogFigure{"step", LoggedQuantity::kStep},
    LogFigure{"step_s", LoggedQuantity::kTime},
    LogFigure{"step_ms", LoggedQuantity::kTime, 1e-3},
    LogFigure{"tokens_per_s", LoggedQuantity::kTokenRate},
    LogFigure{"tokens_per_s_per_gpu", LoggedQuantity::kRankRate},
    LogFigure{"samples_per_s", LoggedQuantity::kSampleRate},
    LogFigure{"loss", LoggedQuantity::kLoss},
    LogFigure{"peak_bytes", LoggedQuantity::kPeak},
    LogFigure{"peak_mib", LoggedQuantity::kPeak, 1024.0 * 1024.0},
    LogFigure{"peak_gib", LoggedQuantity::kPeak, 1024.0 * 1024.0 * 1024.0},
    LogFigure{"peak_mb", LoggedQuantity::kPeak, 1e6},
    LogFigure{"peak_gb", LoggedQuantity::kPeak, 1e9},
};

}  // namespace meshwright::command
