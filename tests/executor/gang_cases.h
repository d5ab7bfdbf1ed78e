// GangCases() lists the layouts that are tested with ranks on several hosts. For each axis there is
// a layout whose groups span two hosts.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/executor/layout_cases.h"

namespace meshwright::trial {

struct GangCase {
  LayoutCase layout;
  std::vector<int32_t> ranks = {2, 2};  // number of ranks of each member
};

inline void PrintTo(const GangCase& test_case, std::ostream* out) {
  *out << test_case.layout.layout;
}

// Returns the numbers of ranks of the members as a word: "over_2_1_1".
inline std::string RanksWord(const GangCase& test_case) {
  std::string word = "over";
  for (const int32_t ranks : test_case.ranks) word += "_" + std::to_string(ranks);
  return word;
}

// Returns a test's name: "tp1_pp4_dp1_over_2_1_1".
inline std::string CaseName(const GangCase& test_case) {
  return CaseName(test_case.layout) + "_" + RanksWord(test_case);
}

std::vector<GangCase> GangCases();

}  // namespace meshwright::trial
