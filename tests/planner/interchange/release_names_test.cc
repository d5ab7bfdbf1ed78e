// Each name of our tables is one of the framework's pinned release, or says where else it is known.
// The releases' names lie in tests/planner/interchange/names; tools/check_exports --update writes
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "planner/interchange/framework.h"

namespace meshwright::planner {
namespace {

// The tables take hyphens and underscores for the same, with or without the hyphens of a flag.
std::string Plain(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::string plain(name);
  std::replace(plain.begin(), plain.end(), '_', '-');
  return plain;
}

// Adds the names of a list, each with `prefix` before it.
void AddList(std::string_view list, std::string_view prefix, std::set<std::string>& names) {
  const char* source = std::getenv("MESHWRIGHT_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "run through ctest, which sets MESHWRIGHT_SOURCE_DIR";
  std::ifstream file(std::filesystem::path(source) / "tests/planner/interchange/names" /
                     absl::StrCat(std::string(list), ".txt"));
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    names.insert(std::string(prefix) + Plain(line));
  }
  ASSERT_GT(lines, 0) << list;
}

std::set<std::string> NamesOfRelease(const Framework& framework) {
  std::set<std::string> names;
  AddList(framework.name, "", names);
  for (const NameTable table : framework.tables) {
    if (table.data() == TrainerNames().data()) {
      AddList("trainer", "", names);
      AddList("trl", "", names);
      AddList("launchers", "", names);  // a launch line has arguments of both
    }
    if (table.data() == LauncherNames().data()) AddList("launchers", "", names);
    if (table.data() == DeepspeedNames().data()) {
      AddList("deepspeed", "", names);
      AddList("deepspeed", "deepspeed.", names);
    }
  }
  return names;
}

// Returns whether the release has the name, or a name that a trailing * stands for. Hydra adds a
// name with a + to a section that the release has.
bool Has(const std::set<std::string>& names, std::string_view row_name) {
  const bool added = row_name.starts_with("+");
  if (added) row_name.remove_prefix(1);
  std::string name = Plain(row_name);
  if (added && names.contains(name.substr(0, name.rfind('.')))) return true;
  if (!absl::EndsWith(name, "*")) return names.contains(name);
  name.pop_back();
  const auto next = names.lower_bound(name);
  if (next != names.end() && absl::StartsWith(*next, name)) return true;
  return names.contains(std::string(absl::StripSuffix(name, ".")));  // a section of any keys
}

class NamesOfReleases : public testing::TestWithParam<const Framework*> {};

TEST_P(NamesOfReleases, HaveThoseOfOurTables) {
  const std::set<std::string> names = NamesOfRelease(*GetParam());
  for (const NameTable table : GetParam()->tables) {
    for (const NameRow& row : table) {
      if (!row.of.empty()) continue;
      EXPECT_TRUE(Has(names, row.name)) << row.name << " is no name of " << GetParam()->name;
    }
  }
}

TEST_P(NamesOfReleases, LackNamesThatAreKnownElsewhere) {
  const std::set<std::string> names = NamesOfRelease(*GetParam());
  for (const NameRow& row : GetParam()->tables[0]) {
    if (row.of.empty()) continue;
    EXPECT_FALSE(Has(names, row.name)) << row.name << " is not known to " << row.of << " alone";
  }
}

INSTANTIATE_TEST_SUITE_P(Each, NamesOfReleases, testing::ValuesIn(Frameworks()),
                         [](const auto& test) {
                           std::string name(test.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace meshwright::planner
