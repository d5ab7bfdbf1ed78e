// Holds chosen_layouts.txt to what a choice is for: of each table it has something of all that the
// table's layouts and models have.
#include "tests/executor/layout_choice.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "planner/layout/keys.h"
#include "tests/executor/gang_cases.h"
#include "tests/executor/process_cases.h"

namespace meshwright::trial {
namespace {

// The keys that count ranks of groups, where there are several ranks.
std::vector<std::string> DividingKeys(const planner::Layout& layout) {
  std::vector<std::string> keys;
  for (const planner::LayoutKey& key : planner::kLayoutKeys) {
    if (key.role && key.number(layout) > 1) keys.emplace_back(key.name);
  }
  return keys;
}

// What a case has: each key's value, the schedule together with the ZeRO stage, each two keys that
// divide at once, the modules that it recomputes, and what its model has.
std::set<std::string> TraitsOf(const LayoutCase& test_case) {
  const planner::Layout layout = planner::ParseLayout(test_case.layout).value();
  std::set<std::string> traits;
  for (const planner::LayoutKey& key : planner::kLayoutKeys) {
    traits.insert(absl::StrCat(std::string(key.name), "=", planner::ConditionText(key, layout)));
  }
  const std::vector<std::string> dividing = DividingKeys(layout);
  for (auto one = dividing.begin(); one != dividing.end(); ++one) {
    for (auto other = one + 1; other != dividing.end(); ++other) {
      traits.insert(absl::StrCat(*one, " with ", *other));
    }
  }
  traits.insert(absl::StrCat("sched=", std::string(planner::ScheduleName(layout.schedule)),
                             " with zero=", layout.zero));
  if (layout.recompute == planner::Recompute::kModules) {
    const std::string modules = planner::FormatRecompute(layout);
    for (const absl::string_view module : absl::StrSplit(modules, '+')) {
      traits.insert(absl::StrCat("recomputes ", module));
    }
  }
  for (const std::string& word : ModelWords(test_case.model)) {
    traits.insert(absl::StrCat("model ", word));
  }
  return traits;
}

std::set<std::string> TraitsOf(const ProcessCase& test_case) {
  std::set<std::string> traits = TraitsOf(test_case.layout);
  traits.insert(std::string(planner::PrecisionName(test_case.precision)));
  return traits;
}

std::set<std::string> TraitsOf(const GangCase& test_case) {
  std::set<std::string> traits = TraitsOf(test_case.layout);
  traits.insert(RanksWord(test_case));
  return traits;
}

// By the case's name.
using Table = std::map<std::string, std::set<std::string>>;

template <typename Case>
Table TableOf(const std::vector<std::vector<Case>>& parts) {
  Table table;
  for (const std::vector<Case>& cases : parts) {
    for (const Case& one : cases) table.emplace(CaseName(one), TraitsOf(one));
  }
  return table;
}

Table TableOfLayouts(const std::vector<LayoutCase>& cases) { return TableOf<LayoutCase>({cases}); }

std::map<std::string, Table> AllTables() {
  return {{"threads", TableOfLayouts(AllCases())},
          {"end_stages", TableOfLayouts(EndStageCases())},
          {"offload", TableOfLayouts(OffloadCases())},
          {"balanced_experts", TableOfLayouts(BalancedExpertCases())},
          {"learned_experts", TableOfLayouts(LearnedExpertCases())},
          {"muon_experts", TableOfLayouts(MuonExpertCases())},
          {"dense_modules", TableOfLayouts(DenseModuleCases())},
          {"balanced_modules", TableOfLayouts(BalancedModuleCases())},
          {"learned_modules", TableOfLayouts(LearnedModuleCases())},
          {"balanced_gpt_oss", TableOfLayouts(BalancedGptOssCases())},
          {"learned_gpt_oss", TableOfLayouts(LearnedGptOssCases())},
          {"muon_gpt_oss", TableOfLayouts(MuonGptOssCases())},
          {"selection_bias", TableOfLayouts(SelectionBiasCases())},
          {"narrow", TableOfLayouts(NarrowCases())},
          {"narrow_experts", TableOfLayouts(NarrowExpertCases())},
          {"processes", TableOf<ProcessCase>({ExactProcessCases(), Bf16ProcessCases()})},
          {"gangs", TableOf<GangCase>({GangCases()})}};
}

TEST(LayoutChoice, NamesEachCaseOfATableOnce) {
  const std::map<std::string, Table> tables = AllTables();
  std::set<std::string> lines;
  for (const ChosenLayout& chosen : ChosenLayouts()) {
    const std::string line = absl::StrCat(std::string(chosen.table), " ", std::string(chosen.name));
    EXPECT_TRUE(lines.insert(line).second) << line << " is there twice";
    const auto table = tables.find(std::string(chosen.table));
    ASSERT_NE(table, tables.end()) << line << ": there is no such table";
    EXPECT_TRUE(table->second.contains(std::string(chosen.name)))
        << line << ": the table has no such case";
  }
}

TEST(LayoutChoice, HasSomethingOfAllThatATableHas) {
  for (const auto& [table, cases] : AllTables()) {
    std::set<std::string> had;
    std::map<std::string, std::string> wanted;  // by trait: a case that has it
    for (const auto& [name, traits] : cases) {
      if (IsChosen(table, name)) had.insert(traits.begin(), traits.end());
      for (const std::string& trait : traits) wanted.try_emplace(trait, name);
    }
    for (const auto& [trait, name] : wanted) {
      EXPECT_TRUE(had.contains(trait))
          << "no chosen layout of " << table << " has " << trait
          << "; a line in tests/executor/chosen_layouts.txt that does: " << table << " " << name;
    }
  }
}

}  // namespace
}  // namespace meshwright::trial
