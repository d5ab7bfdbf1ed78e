// OptionChoice is one combination of values of the options that a search varies besides layouts.
//
// --search takes one option and its values, separated by commas:
//
//   loss=plain,chunked:8
//   states=bf16,master=none+grad=bf16+m=int8+v=int8
//   loss
//
// The option's own flag separates the items of a value with commas. --search takes + in their
// place, because a comma starts the next value. Without values, the search tries
// RunOption::search_values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Values by option, in the order of OptionNames().
using OptionValues = std::vector<std::pair<std::string, std::string>>;

// The most combinations of values that one search goes through.
inline constexpr size_t kMostOptionChoices = 64;

// Returns the names of all options: those of kRunOptions, then "optimizer". Code that handles every
// option of a training loops over these names.
const std::vector<std::string_view>& OptionNames();
// Returns the names of the options that a search can vary, in the order of OptionNames(). These
// options have values to search.
const std::vector<std::string_view>& SearchableOptions();

// Returns an option's value in the syntax of its flag. REQUIRES: OptionNames() has the name.
std::string OptionText(std::string_view name, const TrainingSpec& training);
// Returns the option's default value. REQUIRES: as OptionText().
std::string DefaultOptionText(std::string_view name);
// Returns the options whose values are not the defaults, with their values.
OptionValues ChangedOptions(const TrainingSpec& training);
// Returns the values that an option accepts, as --help shows them. REQUIRES: as OptionText().
std::string OptionTakes(std::string_view name);
// Sets an option by its flag's text. Returns InvalidArgument, which names the option and what it
// takes, or `field` if there is no such option.
absl::Status SetOption(std::string_view field, std::string_view name, std::string_view value,
                       TrainingSpec& training);

// An option and the values that a search tries.
struct SearchedOption {
  std::string_view name;  // static storage
  std::vector<std::string> values;
  bool is_listed = true;  // false if the table gave the values, not the user

  friend bool operator==(const SearchedOption&, const SearchedOption&) = default;
};

// Parses texts as --search takes them, each with one option. Returns InvalidArgument naming
// `field`, with what would be accepted, for an option that can't be searched or occurs twice.
// Returns InvalidArgument naming the option for a value that it does not take.
absl::StatusOr<std::vector<SearchedOption>> ParseSearchedOptions(
    std::string_view field, const std::vector<std::string>& texts);

struct OptionChoice {
  RunOptions options;
  Optimizer optimizer = kAdamW;
  OptionValues values;  // values of every option that is searched
  // The number of `values` that differ from the training's own.
  int32_t changed = 0;

  friend bool operator==(const OptionChoice&, const OptionChoice&) = default;
};

// Returns every combination of the values; those of the last option vary fastest. All other options
// have the values of `own`. Without options there is no combination. Returns InvalidArgument naming
// `field` if there are more than kMostOptionChoices combinations.
absl::StatusOr<std::vector<OptionChoice>> CombineOptions(std::string_view field,
                                                         const std::vector<SearchedOption>& options,
                                                         const TrainingSpec& own);

// Returns the training with the choice's options.
TrainingSpec WithChoice(TrainingSpec training, const OptionChoice& choice);

// Returns the values as words, such as "loss=chunked:8 states=bf16".
std::string OptionWords(const OptionValues& values);

// A value of an option that takes less memory than its default.
struct OptionSaving {
  OptionChoice choice;
  std::string effect;  // RunOption::saving_effect

  bool changes_result() const { return !effect.empty(); }
};

// Returns the values of the table that take less memory (RunOption::saving_values). Values of one
// option are adjacent, and the value that changes the training least comes first. Options that are
// not at their default in `own` are the user's decision and are left out.
std::vector<OptionSaving> OptionSavings(const TrainingSpec& own);

// Returns sentences that say how the values change the training's result; none if they do not.
std::string EffectOf(const OptionValues& values);

// Returns what differs between the defaults and the values, such as "loss plain -> chunked:8".
std::vector<std::string> DescribeOptions(const OptionValues& values);

// Sorts values into the order of SearchableOptions(). Values from a map of a message, for example,
// have a different order.
void SortOptions(OptionValues& values);

}  // namespace meshwright::planner
