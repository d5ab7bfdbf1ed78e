#include "tools/cli/common/legend.h"

#include <algorithm>

#include "planner/layout/keys.h"
#include "tools/cli/io/prose.h"

namespace meshwright::cli {
namespace {

constexpr size_t kLeastWidth = 8;  // of a mark with its blanks

}  // namespace

void Legend::Add(std::string_view mark, std::string_view meaning) {
  meanings_.emplace_back(mark, meaning);
}

void Legend::AddWordsOf(const std::vector<planner::Layout>& layouts) {
  for (const planner::LayoutKey& key : planner::kLayoutKeys) {
    if (key.divides_devices) continue;
    const auto has_key = [&](const planner::Layout& layout) {
      return planner::IsInShortText(key, layout);
    };
    if (std::any_of(layouts.begin(), layouts.end(), has_key)) Add(key.name, key.help);
  }
}

void Legend::Print(std::ostream& out) const {
  if (!meanings_.empty()) out << "\n";
  size_t width = kLeastWidth;
  for (const auto& [mark, meaning] : meanings_) width = std::max(width, mark.size() + 2);
  for (const auto& [mark, meaning] : meanings_) {
    std::string line = mark;
    line.resize(width, ' ');
    PrintProse(line + meaning, out, static_cast<int>(width));
  }
}

}  // namespace meshwright::cli
