#include "planner/interchange/yaml_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/string_view.h"

namespace meshwright::planner {

std::string YamlText(const std::vector<Spelling>& spellings) {
  std::string text;
  std::vector<std::string> open;  // the maps around the last line
  for (const Spelling& spelling : spellings) {
    std::vector<std::string> parts = absl::StrSplit(AbslView(spelling.row->name), '.');
    const std::string last = parts.back();
    parts.pop_back();
    size_t same = 0;
    while (same < open.size() && same < parts.size() && open[same] == parts[same]) ++same;
    for (size_t i = same; i < parts.size(); ++i) {
      absl::StrAppend(&text, std::string(2 * i, ' '), parts[i], ":\n");
    }
    const std::string value =
        spelling.row->quoted ? absl::StrCat("'", spelling.value, "'") : spelling.value;
    absl::StrAppend(&text, std::string(2 * parts.size(), ' '), last, ": ", value, "\n");
    open = std::move(parts);
  }
  return text;
}

}  // namespace meshwright::planner
