#include "tools/cli/plan/search_line.h"

#include <algorithm>
#include <ostream>

#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

// The time before the first line, and between two lines.
constexpr double kSecondsBetweenLines = 1.0;
constexpr const char* kClearSearchLine = "\r\x1b[K";

}  // namespace

SearchLine::SearchLine(const CommandContext& context)
    : context_(context),
      terminal_(TerminalOf(context.err)),
      next_s_(context.now_s() + kSecondsBetweenLines) {}

SearchLine::~SearchLine() {
  if (shown_) context_.err << kClearSearchLine << std::flush;
}

void SearchLine::Show(int64_t seen, int64_t of) {
  if (!terminal_.shows_progress() || context_.now_s() < next_s_) return;
  next_s_ = context_.now_s() + kSecondsBetweenLines;
  if (terminal_.on_progress) return terminal_.on_progress(seen, of, "layouts searched");
  shown_ = true;
  const double share = static_cast<double>(seen) / static_cast<double>(std::max<int64_t>(1, of));
  context_.err << kClearSearchLine << "searched " << FormatPercent(share) << " of "
               << FormatCount(of) << " layouts" << std::flush;
}

}  // namespace meshwright::cli
