// The one place where `serve` and `agent` write log lines.
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
  LogLevel level = LogLevel::kInfo;  // the least weight that is written
  LogFormat format = LogFormat::kText;

  // --log-level and --log-format.
  void Add(CLI::App& command);
};

// Writes one line for each call, down to the level, and flushes it. `out` must outlive the
// function; `clock` says when it is.
//
// Text, for people: "2026-11-22T12:38:09.123Z info runs tp2.pp2… sweep=night trial=3 attempt=1". A
// line about no sweep ends with its sentence. Escaped as planner/base/escape_controls.h says.
//
// JSON, for programs: an object of "time" (RFC 3339, UTC, microseconds), "level", "message" and
// those of the fields that the line is about, by their names in LogFields. The line is ASCII,
// whatever the message holds; bytes that are not UTF-8 become U+FFFD.
LogFunction MakeLog(std::ostream& out, const LogFlags& flags, std::function<absl::Time()> clock);

}  // namespace meshwright::cli
