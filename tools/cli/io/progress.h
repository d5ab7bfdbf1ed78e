// ProgressLine shows the progress of long work. On a terminal it redraws a bar at the bottom. If
// the output has Terminal::on_progress, it calls that function instead. Elsewhere it prints plain
// lines.
//
// The bar never takes more than one line of the window's current width. Lines of Keep() are printed
// in full above the bar.
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

  // Shows `done` of `total` and `text`, which describes the current work. If the output is not a
  // terminal, prints them as a line.
  void Update(int64_t done, int64_t total, const std::string& text);
  // Prints `done` of `total` and `text` as a line that stays.
  void Keep(int64_t done, int64_t total, const std::string& text);
  // Ends the line of the bar, if there is a bar. The bar stays visible.
  void Finish();

 private:
  std::ostream& out_;
  bool open_ = false;  // the current line has a bar
};

}  // namespace meshwright::cli
