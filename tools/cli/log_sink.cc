#include "tools/cli/log_sink.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <array>
#include <map>
#include <utility>

#include "absl/strings/str_format.h"

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

// Bytes of the UTF-8 character at `at`; 0 where there is none: a stray or missing continuation, a
// longer form than needed, a surrogate, or a number above the last character.
size_t Utf8Length(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xc2 && lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || lead < 0xc2) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(at + 1);
  const bool bad = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
                   (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90);
  return bad ? 0 : length;
}

// U+0080 to U+009F, which terminals take for controls too.
bool IsLateControl(const std::string& text, size_t at) {
  return static_cast<unsigned char>(text[at]) == 0xc2 &&
         static_cast<unsigned char>(text[at + 1]) < 0xa0;
}

void AppendEscaped(std::string& out, unsigned char byte) {
  switch (byte) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      absl::StrAppendFormat(&out, "\\x%02x", byte);
  }
}

}  // namespace

std::string EscapeControls(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0 || (length == 1 && (byte < 0x20 || byte == 0x7f))) {
      AppendEscaped(out, byte);
      ++at;
    } else if (length == 2 && IsLateControl(text, at)) {
      AppendEscaped(out, byte);
      AppendEscaped(out, static_cast<unsigned char>(text[at + 1]));
      at += 2;
    } else {
      out.append(text, at, length);
      at += length;
    }
  }
  return out;
}

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
