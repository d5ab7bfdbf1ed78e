#include "tools/cli/io/folded_text.h"

#include <algorithm>
#include <string>

namespace meshwright::cli {
namespace {

constexpr int64_t kNarrowest = 20;  // a window narrower than this gets longer lines

void PrintFolded(std::string line, int64_t columns, std::ostream& out) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size()) + 2;
  while (DisplayWidth(line) > columns) {
    const std::string most = CutToWidth(line, columns + 1);
    const size_t space = most.find_last_of(' ');
    // A word that is wider than the window stays whole.
    if (space == std::string::npos || space < indent) break;
    out << line.substr(0, space) << '\n';
    line = std::string(indent, ' ') + line.substr(space + 1);
  }
  out << line << '\n';
}

}  // namespace

FoldedText::FoldedText(std::ostream& out) : out_(out), terminal_(TerminalOf(out)) {
  AttachTerminal(text_, &terminal_);
}

FoldedText::~FoldedText() {
  const int64_t columns = terminal_.folds_tables ? terminal_.columns() : 0;
  if (columns == 0) {
    out_ << text_.str();
    return;
  }
  std::istringstream lines(text_.str());
  for (std::string line; std::getline(lines, line);) {
    PrintFolded(std::move(line), std::max(columns, kNarrowest), out_);
  }
}

}  // namespace meshwright::cli
