#include "tools/cli/io/log_sink.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <array>
#include <map>
#include <utility>

#include "planner/base/escape_controls.h"

namespace meshwright::cli {
namespace {

spdlog::level::level_enum SpdlogLevel(host::LogLevel level) {
  switch (level) {
    case host::LogLevel::kError:
      return spdlog::level::err;
    case host::LogLevel::kWarning:
      return spdlog::level::warn;
    case host::LogLevel::kInfo:
      return spdlog::level::info;
    case host::LogLevel::kDebug:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

}  // namespace

host::LogFunction MakeLog(std::ostream& out, host::LogLevel level,
                          std::function<absl::Time()> clock) {
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out, /*force_flush=*/true);
  auto logger = std::make_shared<spdlog::logger>("meshwright", std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  logger->set_level(SpdlogLevel(level));
  return [logger, clock = std::move(clock)](host::LogLevel of_line, const std::string& line) {
    logger->log(absl::ToChronoTime(clock()), spdlog::source_loc(), SpdlogLevel(of_line),
                spdlog::string_view_t(EscapeControls(line)));
  };
}

void AddLogLevel(CLI::App& command, host::LogLevel& level) {
  static const std::map<std::string, host::LogLevel> kLevels = {
      {"error", host::LogLevel::kError},
      {"warning", host::LogLevel::kWarning},
      {"info", host::LogLevel::kInfo},
      {"debug", host::LogLevel::kDebug}};
  command.add_option("--log-level", level, "Least weight of the lines in the log; default info")
      ->transform(CLI::CheckedTransformer(kLevels, CLI::ignore_case).description(""))
      ->option_text("error|warning|info|debug");
}

}  // namespace meshwright::cli
