// Shows how far long work is: one line that redraws itself on a terminal, plain lines elsewhere.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace meshwright {

class ProgressLine {
 public:
  ProgressLine(std::ostream& out, bool is_terminal) : out_(out), is_terminal_(is_terminal) {}
  ~ProgressLine() { Finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `done` of `total` with what is going on now. Off a terminal each call prints a line.
  void Update(int64_t done, int64_t total, const std::string& text);
  // Leaves the bar as it stands and goes to the next line.
  void Finish();

 private:
  std::ostream& out_;
  bool is_terminal_;
  bool open_ = false;  // a bar stands on the current line
};

}  // namespace meshwright
