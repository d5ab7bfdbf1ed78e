// DoctorText declares the fields that `meshwright doctor` prints (planner/codec/fields.h).
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "planner/codec/fields.h"
#include "tools/cli/doctor/findings.h"

namespace meshwright::cli {

inline constexpr std::array<std::string_view, 9> kChecks = {
    "worker", "devices", "memory", "files", "clock", "state", "trial", "server", "standby"};
inline constexpr std::array<std::string_view, 3> kVerdicts = {"ok", "warning", "problem"};

template <typename Visitor>
void VisitFields(const Finding& finding, Visitor& visit) {
  visit(planner::Among(kChecks, {"check", "What was looked at"}), finding.check);
  visit(planner::Among(
            kVerdicts,
            {"verdict", "warning: works, and not as well as it could; problem: does not work"}),
        VerdictName(finding.verdict));
  visit({"found", "What is there"}, finding.found);
  visit(planner::NullUnless(!finding.advice.empty(),
                            {"advice", "What to do about it; null where nothing is to be done"}),
        finding.advice);
}

struct DoctorText {
  Verdict worst = Verdict::kOk;
  std::vector<Finding> findings;
};

template <typename Visitor>
void VisitFields(const DoctorText& text, Visitor& visit) {
  visit(planner::Among(kVerdicts, {"verdict", "The worst of the findings"}),
        VerdictName(text.worst));
  visit(planner::Closed({"findings", "One for each thing that was looked at"}), text.findings);
}

}  // namespace meshwright::cli
