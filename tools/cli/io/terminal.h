// Terminal describes the target of an output stream: a terminal, with a width and perhaps colours,
// or a file or pipe, with neither.
//
// A stream carries its Terminal, so that whatever prints to the stream can ask. A stream without
// one (a test's) counts as a file's.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "tools/command_line/defaults.h"

namespace meshwright::cli {

struct Terminal {
  // Returns the window's present number of columns; 0 where nothing limits a line. Never null.
  std::function<int64_t()> columns = [] { return int64_t{0}; };
  bool is_terminal = false;
  bool has_colour = false;
  bool folds_tables = true;  // a table wider than the window takes several lines a row
};

// Gives `out` its terminal, which outlives the stream's use.
void AttachTerminal(std::ostream& out, Terminal* terminal);
// Returns the terminal of `out`, or that of a file.
const Terminal& TerminalOf(std::ostream& out);
// Turns folds_tables off where `out` has a terminal.
void KeepTablesWide(std::ostream& out);

enum class Style { kPlain, kHeading, kGood, kWarning, kBad };

// Returns `text` in the style, where `out` has colours.
std::string Styled(std::ostream& out, Style style, std::string_view text);

// Returns the terminal at a descriptor. It has colours unless the environment sets NO_COLOR to
// anything (no-color.org) or TERM to "dumb".
Terminal TerminalAt(int fd, const command_line::Environment& environment);

// Returns the columns that `text` takes: one per UTF-8 character, and none for the escape sequences
// of styles.
int64_t DisplayWidth(std::string_view text);
// Returns the first `columns` columns of the text.
std::string CutToWidth(std::string_view text, int64_t columns);

}  // namespace meshwright::cli
