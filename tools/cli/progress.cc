#include "tools/cli/progress.h"

#include <algorithm>

namespace meshwright {
namespace {

constexpr int64_t kBarWidth = 24;

}  // namespace

void ProgressLine::Update(int64_t done, int64_t total, const std::string& text) {
  const std::string count = std::to_string(done) + "/" + std::to_string(total);
  if (!is_terminal_) {
    out_ << count << " " << text << std::endl;
    return;
  }
  const int64_t filled =
      total > 0 ? std::clamp<int64_t>(kBarWidth * done / total, 0, kBarWidth) : 0;
  out_ << "\r[" << std::string(static_cast<size_t>(filled), '#')
       << std::string(static_cast<size_t>(kBarWidth - filled), '.') << "] " << count << " " << text
       << "\x1b[K" << std::flush;
  open_ = true;
}

void ProgressLine::Finish() {
  if (open_) out_ << std::endl;
  open_ = false;
}

}  // namespace meshwright
