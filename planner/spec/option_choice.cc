#include "planner/spec/option_choice.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kOptimizerName = "optimizer";

const RunOption* FindOption(std::string_view name) {
  for (const RunOption& option : kRunOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string NamesOf(const std::vector<std::string_view>& names) {
  return absl::StrJoin(names, ", ", [](std::string* out, std::string_view name) {
    out->append(name.data(), name.size());
  });
}

std::string OptimizerNames(absl::string_view divider) {
  return absl::StrJoin(kOptimizers, divider, [](std::string* out, const Optimizer& optimizer) {
    out->append(optimizer.name.data(), optimizer.name.size());
  });
}

std::string DefaultValues(std::string_view name) {
  return name == kOptimizerName ? OptimizerNames(",")
                                : std::string(FindOption(name)->search_values);
}

// Returns the values as the option writes them, each once.
absl::StatusOr<std::vector<std::string>> ReadValues(std::string_view name, std::string_view text) {
  std::vector<std::string> values;
  for (const absl::string_view part : absl::StrSplit(AbslView(text), ',')) {
    TrainingSpec training;
    const std::string value = absl::StrReplaceAll(absl::StripAsciiWhitespace(part), {{"+", ","}});
    RETURN_IF_ERROR(SetOption(name, name, value, training));
    std::string normal = OptionText(name, training);
    if (std::find(values.begin(), values.end(), normal) == values.end()) {
      values.push_back(std::move(normal));
    }
  }
  return values;
}

absl::StatusOr<SearchedOption> ParseOne(std::string_view field, std::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(AbslView(text), absl::MaxSplits('=', 1));
  const std::string_view wanted = StdView(absl::StripAsciiWhitespace(parts.first));
  const std::vector<std::string_view>& names = SearchableOptions();
  const auto name = std::find(names.begin(), names.end(), wanted);
  if (name == names.end()) {
    return FieldError(field, text,
                      absl::StrCat("must be an option that a search can vary (", NamesOf(names),
                                   "), alone or with its values: loss=plain,chunked:8"));
  }
  SearchedOption option = {.name = *name, .values = {}, .is_listed = text.find('=') != text.npos};
  const std::string values =
      option.is_listed ? std::string(parts.second) : DefaultValues(option.name);
  ASSIGN_OR_RETURN(option.values, ReadValues(option.name, values));
  return option;
}

}  // namespace

const std::vector<std::string_view>& OptionNames() {
  static const auto* const kNames = [] {
    auto* names = new std::vector<std::string_view>();
    for (const RunOption& option : kRunOptions) names->push_back(option.name);
    names->push_back(kOptimizerName);
    return names;
  }();
  return *kNames;
}

const std::vector<std::string_view>& SearchableOptions() {
  static const auto* const kNames = [] {
    auto* names = new std::vector<std::string_view>();
    for (const std::string_view name : OptionNames()) {
      if (!DefaultValues(name).empty()) names->push_back(name);
    }
    return names;
  }();
  return *kNames;
}

std::string OptionText(std::string_view name, const TrainingSpec& training) {
  if (name == kOptimizerName) return std::string(training.optimizer.name);
  return FindOption(name)->text(training.options);
}

std::string DefaultOptionText(std::string_view name) { return OptionText(name, TrainingSpec()); }

OptionValues ChangedOptions(const TrainingSpec& training) {
  OptionValues changed;
  for (const std::string_view name : OptionNames()) {
    std::string value = OptionText(name, training);
    if (value != DefaultOptionText(name)) changed.emplace_back(name, std::move(value));
  }
  return changed;
}

std::string OptionTakes(std::string_view name) {
  return name == kOptimizerName ? OptimizerNames("|") : std::string(FindOption(name)->values);
}

absl::Status SetOption(std::string_view field, std::string_view name, std::string_view value,
                       TrainingSpec& training) {
  if (name == kOptimizerName) {
    ASSIGN_OR_RETURN(training.optimizer, ParseOptimizer(value));
    return absl::OkStatus();
  }
  if (const RunOption* option = FindOption(name)) return option->read(value, training.options);
  return FieldError(field, name, absl::StrCat("must be one of ", NamesOf(OptionNames())));
}

absl::StatusOr<std::vector<SearchedOption>> ParseSearchedOptions(
    std::string_view field, const std::vector<std::string>& texts) {
  std::vector<SearchedOption> options;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(SearchedOption option, ParseOne(field, text));
    const auto is_same = [&](const SearchedOption& other) { return other.name == option.name; };
    if (std::any_of(options.begin(), options.end(), is_same)) {
      return FieldError(field, text,
                        absl::StrCat("is a second list of values of ", AbslView(option.name),
                                     "; must be one list, with commas"));
    }
    options.push_back(std::move(option));
  }
  const std::vector<std::string_view>& names = SearchableOptions();
  std::sort(options.begin(), options.end(), [&](const SearchedOption& a, const SearchedOption& b) {
    return std::find(names.begin(), names.end(), a.name) <
           std::find(names.begin(), names.end(), b.name);
  });
  return options;
}

absl::StatusOr<std::vector<OptionChoice>> CombineOptions(std::string_view field,
                                                         const std::vector<SearchedOption>& options,
                                                         const TrainingSpec& own) {
  size_t count = options.empty() ? 0 : 1;
  for (const SearchedOption& option : options) {
    count *= option.values.size();
    if (count <= kMostOptionChoices) continue;
    std::vector<std::string> sizes;
    for (const SearchedOption& each : options) {
      sizes.push_back(absl::StrCat(each.values.size(), " of ", AbslView(each.name)));
    }
    return FieldError(field, absl::StrJoin(sizes, ", "),
                      absl::StrCat("makes too many combinations of values; must be at most ",
                                   kMostOptionChoices));
  }
  std::vector<OptionChoice> choices(count);
  for (size_t number = 0; number < count; ++number) {
    TrainingSpec training = own;
    OptionChoice& choice = choices[number];
    size_t rest = number;
    choice.values.resize(options.size());
    for (size_t i = options.size(); i-- > 0;) {
      const SearchedOption& option = options[i];
      const std::string& value = option.values[rest % option.values.size()];
      rest /= option.values.size();
      RETURN_IF_ERROR(SetOption(field, option.name, value, training));
      choice.values[i] = {std::string(option.name), value};
      if (value != OptionText(option.name, own)) ++choice.changed;
    }
    choice.options = training.options;
    choice.optimizer = training.optimizer;
  }
  return choices;
}

TrainingSpec WithChoice(TrainingSpec training, const OptionChoice& choice) {
  training.options = choice.options;
  training.optimizer = choice.optimizer;
  return training;
}

std::string OptionWords(const OptionValues& values) {
  return absl::StrJoin(values, " ", absl::PairFormatter("="));
}

std::vector<OptionSaving> OptionSavings(const TrainingSpec& own) {
  std::vector<OptionSaving> savings;
  for (const RunOption& option : kRunOptions) {
    if (option.saving_values.empty() || !HasDefault(option, own.options)) continue;
    const auto values = ReadValues(option.name, option.saving_values);
    if (!values.ok()) continue;  // tests read all of them
    for (const std::string& value : *values) {
      TrainingSpec with = own;
      option.read(value, with.options).IgnoreError();
      savings.push_back({.choice = {.options = with.options,
                                    .optimizer = own.optimizer,
                                    .values = {{std::string(option.name), value}},
                                    .changed = 1},
                         .effect = std::string(option.saving_effect)});
    }
  }
  return savings;
}

std::string EffectOf(const OptionValues& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    const RunOption* option = FindOption(name);
    if (option == nullptr || option->saving_effect.empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ", "--", name, " ", value, " ",
                    AbslView(option->saving_effect), ".");
  }
  return text;
}

std::vector<std::string> DescribeOptions(const OptionValues& values) {
  std::vector<std::string> changes;
  for (const auto& [name, value] : values) {
    changes.push_back(absl::StrCat(name, " ", DefaultOptionText(name), " -> ", value));
  }
  return changes;
}

void SortOptions(OptionValues& values) {
  const std::vector<std::string_view>& names = SearchableOptions();
  const auto place = [&](const std::pair<std::string, std::string>& value) {
    return std::find(names.begin(), names.end(), value.first);
  };
  std::stable_sort(values.begin(), values.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

}  // namespace meshwright::planner
