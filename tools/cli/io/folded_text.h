// FoldedText breaks lines between words at the window's width.
//
// What is printed to stream() goes to the output on destruction. On a terminal, lines wider than
// its window continue on the next line, indented by two more columns than they began;
// Terminal::folds_tables turns that off. Elsewhere nothing changes.
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

  // Carries the output's terminal, so that tables fold themselves.
  std::ostream& stream() { return text_; }

 private:
  std::ostream& out_;
  Terminal terminal_;
  std::ostringstream text_;
};

}  // namespace meshwright::cli
