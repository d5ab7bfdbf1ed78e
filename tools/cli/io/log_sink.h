// Writes the log lines of `serve` and `agent`; nothing else writes them.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>

#include "CLI/CLI.hpp"
#include "absl/time/time.h"
#include "base/system/log.h"

namespace meshwright::cli {

enum class LogFormat : uint8_t { kText, kJson };

struct LogFlags {
  LogLevel level = LogLevel::kInfo;  // lowest level that is written
  LogFormat format = LogFormat::kText;

  // --log-level and --log-format.
  void Add(CLI::App& command);
};

// Returns a function that writes one line per call, for levels from flags.level up, and flushes it.
// `out` must outlive the function; `clock` gives the time.
//
// Text, for people: "2026-11-22T12:38:09.123Z info runs tp2.pp2… sweep=night trial=3 attempt=1". A
// line about no sweep ends with its sentence. Escaped as in base/text/message_text.h.
//
// JSON, for programs: an object of "time" (RFC 3339, UTC, microseconds), "level", "message" and the
// fields that the line is about, by their names in LogFields. The line is ASCII, whatever the
// message holds; bytes that are not UTF-8 become U+FFFD.
LogFunction MakeLog(std::ostream& out, const LogFlags& flags, std::function<absl::Time()> clock);

}  // namespace meshwright::cli
