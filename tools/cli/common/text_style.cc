#include "tools/cli/common/text_style.h"

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

}  // namespace meshwright::cli
