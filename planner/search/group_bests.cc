#include "planner/search/group_bests.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"
#include "planner/layout/filter_match.h"

namespace meshwright::planner {

absl::StatusOr<std::vector<FilterField>> ParseGroupFields(std::string_view field,
                                                          std::string_view text) {
  const auto refuse = [&](const std::string& problem) {
    return FieldError(
        field, text,
        absl::StrCat(problem, "; must be one to ", kMostGroupFields, " of ",
                     absl::StrJoin(kFilterFieldNames, ", ",
                                   [](std::string* out, auto name) { out->append(name); })));
  };
  std::vector<FilterField> fields;
  const absl::string_view list = AbslView(text);
  for (const absl::string_view part : absl::StrSplit(list, ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(part);
    const auto found = std::find(kFilterFieldNames.begin(), kFilterFieldNames.end(),
                                 std::string_view(name.data(), name.size()));
    if (found == kFilterFieldNames.end()) {
      return refuse(absl::StrCat("there is no axis \"", name, "\""));
    }
    const auto named = static_cast<FilterField>(found - kFilterFieldNames.begin());
    if (std::find(fields.begin(), fields.end(), named) != fields.end()) {
      return refuse(absl::StrCat(name, " is there twice"));
    }
    fields.push_back(named);
  }
  if (fields.size() > kMostGroupFields) return refuse("these are too many");
  return fields;
}

void GroupBests::Count(const Layout& layout) {
  if (wanted()) ++groups_[KeyOf(layout)].fit;
}

bool GroupBests::Takes(const Layout& layout, const Scores& most) const {
  if (!wanted()) return false;
  const auto found = groups_.find(KeyOf(layout));
  return found == groups_.end() || !found->second.has_best || most[merit_] > found->second.score;
}

void GroupBests::Offer(const Layout& layout, const Estimate& estimate, PointOrder order) {
  if (!wanted()) return;
  Entry& entry = groups_[KeyOf(layout)];
  const double score = ScoresOf(estimate)[merit_];
  if (entry.has_best && score <= entry.score) return;
  entry.has_best = true;
  entry.best = {layout, estimate};
  entry.score = score;
  entry.order = order;
}

void GroupBests::Merge(GroupBests&& other) {
  for (auto& [key, entry] : other.groups_) {
    Entry& own = groups_[key];
    const int64_t fit = own.fit + entry.fit;
    const bool is_better = !own.has_best || entry.score > own.score ||
                           (entry.score == own.score && entry.order < own.order);
    if (entry.has_best && is_better) own = entry;
    own.fit = fit;
  }
}

std::vector<GroupBest> GroupBests::Take(size_t most) {
  std::vector<std::pair<Key, Entry*>> order;
  for (auto& [key, entry] : groups_) order.emplace_back(key, &entry);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a.second->score != b.second->score) return a.second->score > b.second->score;
    return a.second->order < b.second->order;
  });
  if (order.size() > most) order.resize(most);
  std::vector<GroupBest> groups;
  groups.reserve(order.size());
  for (const auto& [key, entry] : order) {
    groups.push_back({ConditionOf(key), entry->fit, entry->best});
  }
  return groups;
}

GroupBests::Key GroupBests::KeyOf(const Layout& layout) const {
  Key key{};
  for (size_t i = 0; i < fields_.size(); ++i) key[i] = FilterValueOf(fields_[i], layout);
  return key;
}

std::string GroupBests::ConditionOf(const Key& key) const {
  Filter all;
  for (size_t i = 0; i < fields_.size(); ++i) {
    all.parts.push_back({.kind = Filter::Kind::kCompare,
                         .field = fields_[i],
                         .comparison = Comparison::kEqual,
                         .values = {key[i]}});
  }
  return FormatFilter(all);
}

}  // namespace meshwright::planner
