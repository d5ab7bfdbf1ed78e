#include "planner/search/group_bests.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"
#include "planner/layout/keys.h"
#include "planner/layout/layout_condition.h"

namespace meshwright::planner {

namespace {

bool IsOption(size_t key) { return key >= kLayoutKeys.size(); }

std::string_view OptionOf(size_t key) { return SearchableOptions()[key - kLayoutKeys.size()]; }

// The keys of layouts and, behind them, the options.
const ConditionFields& GroupFields() {
  static const auto* const kFields = [] {
    auto* fields = new ConditionFields(LayoutFields());
    for (const std::string_view name : SearchableOptions()) {
      fields->push_back({.name = name, .type = ValueType::kText});
    }
    return fields;
  }();
  return *kFields;
}

std::optional<size_t> IndexOfField(std::string_view name) {
  if (const LayoutKey* const key = FindKey(name)) return IndexOf(*key);
  for (size_t i = kLayoutKeys.size(); i < GroupFields().size(); ++i) {
    if (GroupFields()[i].name == name) return i;
  }
  return std::nullopt;
}

bool IsSearched(size_t key, const std::vector<OptionChoice>& choices) {
  if (!IsOption(key)) return true;
  if (choices.empty()) return false;
  const OptionValues& values = choices.front().values;
  return std::any_of(values.begin(), values.end(),
                     [key](const auto& value) { return value.first == OptionOf(key); });
}

}  // namespace

absl::StatusOr<std::vector<size_t>> ParseGroupFields(std::string_view field, std::string_view text,
                                                     const std::vector<OptionChoice>& choices) {
  const auto refuse = [&](const std::string& problem) {
    std::vector<std::string> names;
    for (size_t i = 0; i < GroupFields().size(); ++i) {
      if (IsSearched(i, choices)) names.emplace_back(GroupFields()[i].name);
    }
    return FieldError(field, text,
                      absl::StrCat(problem, "; must be one to ", kMostGroupFields, " of ",
                                   absl::StrJoin(names, ", ")));
  };
  std::vector<size_t> keys;
  for (const absl::string_view part : absl::StrSplit(AbslView(text), ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(part);
    const std::optional<size_t> key = IndexOfField(StdView(name));
    if (!key) return refuse(absl::StrCat("there is no axis \"", name, "\""));
    if (!IsSearched(*key, choices)) {
      return refuse(absl::StrCat(name, " has one value without --search ", name));
    }
    if (std::find(keys.begin(), keys.end(), *key) != keys.end()) {
      return refuse(absl::StrCat(name, " is there twice"));
    }
    keys.push_back(*key);
  }
  if (keys.size() > kMostGroupFields) return refuse("these are too many");
  return keys;
}

GroupBests::GroupBests(std::vector<size_t> keys, Merit merit, const OptionValues& options)
    : keys_(std::move(keys)), merit_(merit) {
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (!IsOption(keys_[i])) continue;
    for (const auto& [name, value] : options) {
      if (name == OptionOf(keys_[i])) options_.texts[i] = value;
    }
  }
}

void GroupBests::Count(const Layout& layout) {
  if (wanted()) ++groups_[KeyOf(layout)].fit;
}

bool GroupBests::Takes(const Layout& layout, const Scores& most) const {
  if (!wanted()) return false;
  const auto found = groups_.find(KeyOf(layout));
  return found == groups_.end() || !found->second.has_best || most[merit_] > found->second.score;
}

void GroupBests::Offer(const RankedLayout& ranked, PointOrder order) {
  if (!wanted()) return;
  Entry& entry = groups_[KeyOf(ranked.layout)];
  const double score = ScoresOf(ranked.estimate)[merit_];
  if (entry.has_best && score <= entry.score) return;
  entry.has_best = true;
  entry.best = ranked;
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
  Key group = options_;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (IsOption(keys_[i])) continue;
    const LayoutKey& key = kLayoutKeys[keys_[i]];
    if (key.kind == KeyKind::kText) {
      group.texts[i] = ConditionText(key, layout);
    } else {
      group.numbers[i] = key.number(layout);
    }
  }
  return group;
}

std::string GroupBests::ConditionOf(const Key& group) const {
  Condition all;
  for (size_t i = 0; i < keys_.size(); ++i) {
    const bool is_text = IsOption(keys_[i]) || kLayoutKeys[keys_[i]].kind == KeyKind::kText;
    all.parts.push_back(
        {.form = ConditionForm::kCompare,
         .field = keys_[i],
         .values = {is_text ? ConditionValue(group.texts[i]) : ConditionValue(group.numbers[i])}});
  }
  return FormatCondition(all, GroupFields());
}

}  // namespace meshwright::planner
