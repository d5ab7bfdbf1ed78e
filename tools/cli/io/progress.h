// Shows how far long work is: a bar that redraws itself at the bottom of a terminal, plain lines
// elsewhere.
//
// A bar never takes more than one line of the window as it is when it is drawn. What is to stay is
// printed above it in full.
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

  // `done` of `total` with what is going on now. Off a terminal each call prints a line.
  void Update(int64_t done, int64_t total, const std::string& text);
  // A line that stays, with the count as Update() shows it.
  void Keep(int64_t done, int64_t total, const std::string& text);
  // Leaves the bar as it stands and goes to the next line.
  void Finish();

 private:
  std::ostream& out_;
  bool open_ = false;  // a bar stands on the current line
};

}  // namespace meshwright::cli
