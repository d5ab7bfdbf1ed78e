// What stands behind an output stream: a terminal, with a width and perhaps colours, or a file or a
// pipe, with neither.
//
// A stream carries its Terminal with it, so that whatever prints to the stream can ask. A stream
// without one (a test's) is a file's.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "tools/command_line/defaults.h"

namespace meshwright::cli {

struct Terminal {
  // Columns as the window has them now; 0 where nothing limits a line. Never null.
  std::function<int64_t()> columns = [] { return int64_t{0}; };
  bool is_terminal = false;
  bool has_colour = false;
  bool folds_tables = true;  // a table that is wider than the window takes several lines a row
};

// Gives `out` its terminal, which outlives the stream's use.
void AttachTerminal(std::ostream& out, Terminal* terminal);
// That of `out`, or one of a file.
const Terminal& TerminalOf(std::ostream& out);
// Turns folds_tables off where `out` has a terminal.
void KeepTablesWide(std::ostream& out);

enum class Style { kPlain, kHeading, kGood, kWarning, kBad };

// `text` in the style, where `out` has colours.
std::string Styled(std::ostream& out, Style style, std::string_view text);

// The terminal behind a descriptor. It has colours unless the environment sets NO_COLOR to anything
// (no-color.org) or TERM to "dumb".
Terminal TerminalAt(int fd, const command_line::Environment& environment);

// Columns that `text` takes: characters of UTF-8, each taken to be one column wide, and none for
// the escape sequences of styles.
int64_t DisplayWidth(std::string_view text);
// The first `columns` of them.
std::string CutToWidth(std::string_view text, int64_t columns);

}  // namespace meshwright::cli
