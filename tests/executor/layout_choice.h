// Chosen() says which of the nightly tests' layouts also run in the tests of every change.
//
// A table has the layouts of one kind of test: models of one kind with the same expectations.
// chosen_layouts.txt names a choice from each table; each line has the table's name and a case's
// name. layout_choice_test.cc says which properties the choice from each table has to cover. It
// checks every table separately, since a layout key may fail in the code of one table's models
// only, such as the code of experts.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "tests/executor/layout_cases.h"
#include "tests/nightly.h"

namespace meshwright::trial {

// One line of chosen_layouts.txt.
struct ChosenLayout {
  std::string_view table;
  std::string_view name;
};

// Returns the lines in the order of the file.
const std::vector<ChosenLayout>& ChosenLayouts();
bool IsChosen(std::string_view table, std::string_view name);

// Returns the cases of a table that run: all cases in the nightly tests, and otherwise the chosen
// ones.
template <typename Case>
std::vector<Case> Chosen(std::string_view table, std::vector<Case> cases) {
  if (IsNightly()) return cases;
  std::erase_if(cases, [table](const Case& one) { return !IsChosen(table, CaseName(one)); });
  return cases;
}

}  // namespace meshwright::trial
