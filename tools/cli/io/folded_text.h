// FoldedText breaks lines between words at the window's width.
//
// The destructor prints the text that was written to stream(). On a terminal, a line wider than the
// window continues on the next line, indented by two more columns. If the output is not a terminal,
// or Terminal::folds_tables is false, the text is printed unchanged.
#pragma once

#include <ostream>
#include <sstream>

#include "tools/cli/io/terminal.h"

namespace meshwright::cli {

class FoldedText {
 public:
  explicit FoldedText(std::ostream& out);
  ~FoldedText();
  FoldedText(const FoldedText&) = delete;
  FoldedText& operator=(const FoldedText&) = delete;

  // Returns the stream to print to. The stream has the output's terminal, so that tables fold too.
  std::ostream& stream() { return text_; }

 private:
  std::ostream& out_;
  Terminal terminal_;
  std::ostringstream text_;
};

}  // namespace meshwright::cli
