#include "tools/cli/log_sink.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <array>
#include <map>
#include <utility>

#include "planner/spec/escape_controls.h"

namespace meshwright {
namespace {

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kDebug:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

}  // namespace

LogFunction MakeLog(std::ostream& out, LogLevel level, std::function<absl::Time()> clock) {
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out, /*force_flush=*/true);
  auto logger = std::make_shared<spdlog::logger>("meshwright", std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  logger->set_level(SpdlogLevel(level));
  return [logger, clock = std::move(clock)](LogLevel of_line, const std::string& line) {
    logger->log(absl::ToChronoTime(clock()), spdlog::source_loc(), SpdlogLevel(of_line),
                spdlog::string_view_t(EscapeControls(line)));
  };
}

void AddLogLevel(CLI::App& command, LogLevel& level) {
  static const std::map<std::string, LogLevel> kLevels = {{"error", LogLevel::kError},
                                                          {"warning", LogLevel::kWarning},
                                                          {"info", LogLevel::kInfo},
                                                          {"debug", LogLevel::kDebug}};
  command.add_option("--log-level", level, "Least weight of the lines in the log; default info")
      ->transform(CLI::CheckedTransformer(kLevels, CLI::ignore_case).description(""))
      ->option_text("error|warning|info|debug");
}

}  // namespace meshwright
