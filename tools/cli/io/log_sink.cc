#include "tools/cli/io/log_sink.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/text/message_text.h"
#include "nlohmann/json.hpp"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct Level {
  std::string_view name;
  LogLevel level;
  spdlog::level::level_enum weight;  // of spdlog
};

constexpr Level kLevels[] = {{"error", LogLevel::kError, spdlog::level::err},
                             {"warning", LogLevel::kWarning, spdlog::level::warn},
                             {"info", LogLevel::kInfo, spdlog::level::info},
                             {"debug", LogLevel::kDebug, spdlog::level::debug}};

const Level& LevelOf(LogLevel level) {
  for (const Level& known : kLevels) {
    if (known.level == level) return known;
  }
  return kLevels[0];
}

// Returns the text as it is where its end is unambiguous, otherwise in quotes, which sweep names of
// earlier releases may need.
std::string Word(const std::string& text) {
  if (CheckSweepId(text).ok()) return text;
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

std::string TextLine(const LogEntry& entry) {
  std::string line = entry.message;
  const LogFields& about = entry.about;
  if (!about.sweep.empty()) absl::StrAppend(&line, " sweep=", Word(about.sweep));
  if (about.trial != 0) absl::StrAppend(&line, " trial=", about.trial);
  if (about.attempt != 0) absl::StrAppend(&line, " attempt=", about.attempt);
  return EscapeControls(line);
}

std::string JsonLine(const LogEntry& entry, absl::Time time) {
  nlohmann::ordered_json json = {
      {"time", absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone())},
      {"level", LevelOf(entry.level).name},
      {"message", entry.message}};
  const auto add_text = [&json](const char* name, const std::string& text) {
    if (!text.empty()) json[name] = text;
  };
  const auto add_number = [&json](const char* name, int32_t number) {
    if (number != 0) json[name] = number;
  };
  const LogFields& about = entry.about;
  add_text("sweep", about.sweep);
  add_number("trial", about.trial);
  add_number("attempt", about.attempt);
  add_text("agent", about.agent);
  add_text("method", about.method);
  add_text("caller", about.caller);
  add_text("code", about.code);
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                   nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

LogFunction MakeLog(std::ostream& out, const LogFlags& flags, std::function<absl::Time()> clock) {
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out, /*force_flush=*/true);
  auto logger = std::make_shared<spdlog::logger>("meshwright", std::move(sink));
  const bool is_json = flags.format == LogFormat::kJson;
  logger->set_pattern(is_json ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                      spdlog::pattern_time_type::utc);
  logger->set_level(LevelOf(flags.level).weight);
  return [logger, is_json, clock = std::move(clock)](const LogEntry& entry) {
    const spdlog::level::level_enum level = LevelOf(entry.level).weight;
    if (!logger->should_log(level)) return;
    const absl::Time now = clock();
    logger->log(absl::ToChronoTime(now), spdlog::source_loc(), level,
                spdlog::string_view_t(is_json ? JsonLine(entry, now) : TextLine(entry)));
  };
}

void LogFlags::Add(CLI::App& command) {
  std::map<std::string, LogLevel> levels;
  for (const Level& known : kLevels) levels[std::string(known.name)] = known.level;
  command.add_option("--log-level", level, "Least severity of the lines in the log; default info")
      ->transform(CLI::CheckedTransformer(levels, CLI::ignore_case).description(""))
      ->option_text("error|warning|info|debug");
  command_line::AddEnumOption(
      command, "--log-format", format,
      "How a line of the log is written: for people, or as a JSON object with the ids of sweep, "
      "trial and attempt",
      std::vector<std::pair<std::string, LogFormat>>{{"text", LogFormat::kText},
                                                     {"json", LogFormat::kJson}});
}

}  // namespace meshwright::cli
