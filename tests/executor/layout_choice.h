// Which layouts the slow tests run of those that the nightly ones run.
//
// A table is what one kind of test runs: layouts of one kind of model, held to the same. Of each
// table chosen_layouts.txt names a choice, one name of a case a line behind the table's.
// layout_choice_test.cc says what the choice of a table needs to have something of. It is held
// table by table and not over all: what breaks a value of a key for experts breaks it in their code
// alone.
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

// In the order of the file.
const std::vector<ChosenLayout>& ChosenLayouts();
bool IsChosen(std::string_view table, std::string_view name);

// The cases of a table that run: all of them in the nightly tests, and else those that are chosen.
template <typename Case>
std::vector<Case> Chosen(std::string_view table, std::vector<Case> cases) {
  if (IsNightly()) return cases;
  std::erase_if(cases, [table](const Case& one) { return !IsChosen(table, CaseName(one)); });
  return cases;
}

}  // namespace meshwright::trial
