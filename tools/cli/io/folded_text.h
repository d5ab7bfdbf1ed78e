// Text whose sentences break between words where the window ends.
//
// What is printed to stream() goes to the output when this ends. On a terminal, lines that are
// wider than its window go on below, two columns further in than they began; Terminal::folds_tables
// turns that off. Elsewhere nothing changes.
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

  // With the output's terminal, so that tables fold themselves.
  std::ostream& stream() { return text_; }

 private:
  std::ostream& out_;
  Terminal terminal_;
  std::ostringstream text_;
};

}  // namespace meshwright::cli
