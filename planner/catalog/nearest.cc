#include "planner/catalog/nearest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright {
namespace {

constexpr size_t kShown = 3;

// Levenshtein distance.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above + 1, row[j - 1] + 1});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

absl::Status UnknownName(std::string_view what, std::string_view name,
                         const std::vector<std::string>& known) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string& candidate : known) {
    ranked.emplace_back(EditDistance(name, candidate), candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  ranked.resize(std::min(ranked.size(), kShown));
  const std::string nearest =
      absl::StrJoin(ranked, ", ", [](std::string* out, const auto& pair) { *out += pair.second; });
  std::string message(what);
  message.append(" '").append(name).append("' is not known; nearest: ").append(nearest);
  return absl::NotFoundError(message);
}

}  // namespace meshwright
