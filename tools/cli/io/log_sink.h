// MakeLog() makes the function that writes the log lines of `serve` and `agent`.
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

  // Adds --log-level and --log-format.
  void Add(CLI::App& command);
};

// Returns a function that writes an entry as one line and flushes it. It drops entries of a level
// below flags.level. `clock` gives the time. REQUIRES: `out` outlives the function.
//
// The text format is for people: "2026-11-22T12:38:09.123Z info runs tp2.pp2… sweep=night trial=3
// attempt=1". An entry without these fields has only its message. Control characters are escaped by
// EscapeControls() (base/text/message_text.h).
//
// The JSON format is for programs: each line is an object with "time" (RFC 3339, UTC,
// microseconds), "level", "message" and each field of LogFields that the entry sets. The line is
// always ASCII. Bytes that are not UTF-8 become U+FFFD.
LogFunction MakeLog(std::ostream& out, const LogFlags& flags, std::function<absl::Time()> clock);

}  // namespace meshwright::cli
