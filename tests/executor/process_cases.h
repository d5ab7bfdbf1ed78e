// A ProcessCase is a layout whose ranks run as processes over Gloo. Only some layouts do; all of
// them run with threads as ranks.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/executor/layout_cases.h"

namespace meshwright::trial {

struct ProcessCase {
  planner::Precision precision = planner::Precision::kFp32;
  LayoutCase layout;
};

inline void PrintTo(const ProcessCase& test_case, std::ostream* out) {
  *out << planner::PrecisionName(test_case.precision) << " " << test_case.layout.layout;
}

// Returns a test's name: "fp32_tp2_pp2_dp1_tied".
inline std::string CaseName(const ProcessCase& test_case) {
  return std::string(planner::PrecisionName(test_case.precision)) + "_" +
         CaseName(test_case.layout);
}

std::vector<ProcessCase> ExactProcessCases();  // in fp32 and fp64
std::vector<ProcessCase> Bf16ProcessCases();

}  // namespace meshwright::trial
