// SearchLine shows the progress of a long search in one terminal line that is overwritten, or
// passes the progress to the terminal's `on_progress`.
#pragma once

#include <cstdint>

#include "tools/cli/common/context.h"
#include "tools/cli/io/terminal.h"

namespace meshwright::cli {

// Destruction clears the line. If nobody looks at progress (Terminal::shows_progress()), nothing is
// shown.
class SearchLine {
 public:
  // REQUIRES: the context outlives the SearchLine.
  explicit SearchLine(const CommandContext& context);
  ~SearchLine();
  SearchLine(const SearchLine&) = delete;
  SearchLine& operator=(const SearchLine&) = delete;

  // Shows that `seen` of `of` layouts were searched, at most once a second and not within the first
  // second.
  void Show(int64_t seen, int64_t of);

 private:
  const CommandContext& context_;
  const Terminal& terminal_;
  double next_s_;
  bool shown_ = false;
};

}  // namespace meshwright::cli
