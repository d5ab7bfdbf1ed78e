// ProgressLine shows the progress of long work: a bar that is redrawn at the bottom of a terminal,
// plain lines elsewhere.
//
// A bar never takes more than one line of the window's present width. Lines that stay are printed
// in full above it.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace meshwright::cli {

class ProgressLine {
 public:
  explicit ProgressLine(std::ostream& out) : out_(out) {}
  ~ProgressLine() { Finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows `done` of `total` and what is going on. Off a terminal each call prints a line.
  void Update(int64_t done, int64_t total, const std::string& text);
  // Prints a line that stays, with the count as in Update().
  void Keep(int64_t done, int64_t total, const std::string& text);
  // Leaves the bar as it is and goes to the next line.
  void Finish();

 private:
  std::ostream& out_;
  bool open_ = false;  // the current line has a bar
};

}  // namespace meshwright::cli
