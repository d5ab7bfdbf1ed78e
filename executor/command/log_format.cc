#include "executor/command/log_format.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "executor/command/log_figure.h"

namespace meshwright::command {
namespace {

struct NamedPattern {
  std::string_view figure;
  std::string_view regex;
};

struct NamedFormat {
  std::string_view name;
  std::vector<NamedPattern> patterns;
};

// The lines are those of Megatron-LM 0.19 (training.py: training_log, report_memory),
// Megatron-Bridge 0.6, torchtitan 0.3 (components/metrics.py), transformers 5 (Trainer.log, one
// line a step with logging_steps=1) and DeepSpeed 0.19 (utils/timer.py: ThroughputTimer,
// steps_per_print=1).
const std::vector<NamedFormat>& Formats() {
  static const std::vector<NamedFormat> formats = {
      {"json", {}},
      {"megatron",
       {{"step", R"(iteration\s+(\d+)/)"},
        {"step_ms", R"(elapsed time per iteration \(ms\): ([\d.]+))"},
        {"loss", R"(lm loss: (\S+))"},
        {"peak_mib", R"(max allocated: ([\d.]+))"}}},
      {"megatron-bridge",
       {{"step", R"(iteration\s+(\d+)/)"},
        {"step_ms", R"(elapsed time per iteration \(ms\): ([\d.]+))"},
        {"loss", R"(lm loss: (\S+))"},
        {"peak_mib", R"(max allocated: ([\d.]+))"}}},
      {"torchtitan",
       {{"step", R"(\bstep:\s*(\d+))"},
        {"tokens_per_s_per_gpu", R"(\btps:\s*([\d,]+))"},
        {"loss", R"(\bloss:\s*(\S+))"},
        {"peak_gib", R"(\bmemory:\s*([\d.]+)GiB)"}}},
      {"hf-trainer", {{"loss", R"('loss': '?([^',}]+))"}}},
      {"deepspeed",
       {{"step", R"(\bglobal_step=(\d+))"},
        {"samples_per_s", R"(\bCurrSamplesPerSec=([\d.]+))"},
        {"peak_gib", R"(\bMaxMemAllocated=([\d.]+)GB)"}}},
  };
  return formats;
}

}  // namespace

absl::StatusOr<LogFormat> FindLogFormat(std::string_view field, std::string_view name) {
  for (const NamedFormat& format : Formats()) {
    if (format.name != name) continue;
    LogFormat found{.name = std::string(name)};
    for (const NamedPattern& pattern : format.patterns) {
      found.patterns.emplace(pattern.figure, pattern.regex);
    }
    return found;
  }
  return FieldError(
      field, name,
      absl::StrCat("must be ", absl::StrJoin(LogFormatNames(), ", "), " or an object of patterns"));
}

std::vector<std::string> LogFormatNames() {
  std::vector<std::string> names;
  for (const NamedFormat& format : Formats()) names.emplace_back(format.name);
  return names;
}

std::vector<std::string> LogFigureNames() {
  std::vector<std::string> names;
  for (const LogFigure& figure : kLogFigures) names.emplace_back(figure.name);
  return names;
}

}  // namespace meshwright::command
