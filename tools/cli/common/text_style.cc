#include "tools/cli/common/text_style.h"

#include <algorithm>

#include "absl/status/statusor.h"

namespace meshwright::cli {

std::string LayoutText(const planner::Layout& layout, const TextStyle& style) {
  return style.whole_layouts ? planner::FormatLayout(layout) : planner::ShortLayout(layout);
}

std::string LayoutText(const planner::RankedLayout& ranked, const TextStyle& style) {
  const std::string text = LayoutText(ranked.layout, style);
  return ranked.options.empty() ? text : text + " " + planner::OptionWords(ranked.options);
}

std::string LayoutText(std::string_view text, const TextStyle& style) {
  const absl::StatusOr<planner::Layout> layout = planner::ParseLayout(text);
  return layout.ok() ? LayoutText(*layout, style) : std::string(text);
}

std::string SentenceText(std::string_view sentence, const TextStyle& style) {
  std::string text;
  while (!sentence.empty()) {
    const size_t end = std::min(sentence.find(' '), sentence.size());
    std::string_view word = sentence.substr(0, end);
    const size_t last = word.find_last_not_of(".,;:");
    const std::string_view layout = word.substr(0, last == std::string_view::npos ? 0 : last + 1);
    if (layout.starts_with("tp")) {
      text += LayoutText(layout, style);
      word.remove_prefix(layout.size());
    }
    text += word;
    sentence.remove_prefix(end);
    if (!sentence.empty()) {
      text += ' ';
      sentence.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace meshwright::cli
