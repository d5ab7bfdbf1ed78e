// How far a long search is: one line of a terminal that is written over and over.
#pragma once

#include <cstdint>

#include "tools/cli/common/context.h"

namespace meshwright::cli {

// The line is gone when this ends. Without a terminal behind `context.err` there is none.
class SearchLine {
 public:
  // The context outlives it.
  explicit SearchLine(const CommandContext& context);
  ~SearchLine();
  SearchLine(const SearchLine&) = delete;
  SearchLine& operator=(const SearchLine&) = delete;

  // Shows that `seen` of `of` layouts were searched, at most once a second and not before the
  // first.
  void Show(int64_t seen, int64_t of);

 private:
  const CommandContext& context_;
  const bool is_terminal_;
  double next_s_;
  bool shown_ = false;
};

}  // namespace meshwright::cli
