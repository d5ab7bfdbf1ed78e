#include "tools/cli/io/progress.h"

#include <algorithm>

#include "tools/cli/io/terminal.h"

namespace meshwright::cli {
namespace {

constexpr int64_t kBarWidth = 24;
constexpr int64_t kNarrowestText = 40;   // the bar shrinks to leave text this width
constexpr int64_t kAssumedColumns = 80;  // of a terminal that does not tell
constexpr char kClearLine[] = "\r\x1b[K";

std::string Count(int64_t done, int64_t total) {
  return std::to_string(done) + "/" + std::to_string(total);
}

// Text from elsewhere must not move the cursor.
std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

std::string Bar(int64_t width, int64_t done, int64_t total) {
  if (width < 4) return "";
  const int64_t filled = total > 0 ? std::clamp<int64_t>(width * done / total, 0, width) : 0;
  return "[" + std::string(static_cast<size_t>(filled), '#') +
         std::string(static_cast<size_t>(width - filled), '.') + "] ";
}

}  // namespace

void ProgressLine::Update(int64_t done, int64_t total, const std::string& text) {
  const Terminal& terminal = TerminalOf(out_);
  if (terminal.on_progress) return terminal.on_progress(done, total, OneLine(text));
  const std::string tail = Count(done, total) + " " + OneLine(text);
  if (!terminal.is_terminal) {
    out_ << tail << std::endl;
    return;
  }
  const int64_t told = terminal.columns();
  // The last column stays free: some terminals go to the next line once it is filled.
  const int64_t columns = std::max<int64_t>(1, (told > 0 ? told : kAssumedColumns) - 1);
  const int64_t bar = std::min(kBarWidth, columns - std::min(DisplayWidth(tail), kNarrowestText));
  out_ << kClearLine << CutToWidth(Bar(bar - 3, done, total) + tail, columns) << std::flush;
  open_ = true;
}

void ProgressLine::Keep(int64_t done, int64_t total, const std::string& text) {
  if (open_) out_ << kClearLine;
  open_ = false;
  out_ << Count(done, total) << " " << OneLine(text) << std::endl;
}

void ProgressLine::Finish() {
  if (open_) out_ << std::endl;
  open_ = false;
}

}  // namespace meshwright::cli
