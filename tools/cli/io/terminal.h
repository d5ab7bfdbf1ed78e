// Terminal describes the target of an output stream: a terminal, which has a width and perhaps
// colours, or a file or pipe, which has neither.
//
// A stream carries its Terminal, so that all code that prints to the stream can query it. A stream
// without a Terminal, as in a test, counts as the stream of a file.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "tools/command_line/defaults.h"

namespace meshwright::cli {

struct Terminal {
  // Returns the window's present number of columns; 0 if nothing limits a line. The function is
  // never null.
  std::function<int64_t()> columns = [] { return int64_t{0}; };
  bool is_terminal = false;
  bool has_colour = false;
  bool folds_tables = true;  // whether rows wider than the window take several lines
  // Gets the progress of long work, which is then not printed: `done` of `total`, and what is being
  // done. May be empty.
  std::function<void(int64_t done, int64_t total, const std::string& text)> on_progress = {};

  // Returns whether anybody looks at progress as it happens.
  bool shows_progress() const { return is_terminal || on_progress; }
};

// Gives `out` its terminal. REQUIRES: `terminal` outlives all uses of the stream.
void AttachTerminal(std::ostream& out, Terminal* terminal);
// Returns the terminal of `out`. If AttachTerminal() did not attach one, returns the Terminal of a
// stream that is written to a file.
const Terminal& TerminalOf(std::ostream& out);
// Turns folds_tables off if `out` has a terminal.
void KeepTablesWide(std::ostream& out);

enum class Style { kPlain, kHeading, kGood, kWarning, kBad };

// Returns `text` with the escape sequences of the style. Returns it unchanged if `out` has no
// colours.
std::string Styled(std::ostream& out, Style style, std::string_view text);

// Returns the terminal at a descriptor, or the Terminal of a file if the descriptor is no terminal.
// A terminal has colours unless the environment sets NO_COLOR to a text that is not empty
// (no-color.org) or TERM to "dumb".
Terminal TerminalAt(int fd, const command_line::Environment& environment);

// Returns the number of columns that `text` takes: one for each UTF-8 character, and none for the
// escape sequences of styles.
int64_t DisplayWidth(std::string_view text);
// Returns the first `columns` columns of the text.
std::string CutToWidth(std::string_view text, int64_t columns);

}  // namespace meshwright::cli
