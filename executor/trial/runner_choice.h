// RunnerChoice says by which runner a trial runs in the user's own framework. A runner is a file on
// the agent's host that says which command starts a run (executor/command/runner.h).
//
// Trials are comparable only if their runner, the version of its file and the values of its fields
// are the same.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "planner/codec/fields.h"

namespace meshwright::trial {

struct RunnerChoice {
  std::string name;
  std::string hash;                           // SHA-256 of the runner's file, hexadecimal
  std::map<std::string, std::string> fields;  // values of fields that the runner declares

  friend bool operator==(const RunnerChoice&, const RunnerChoice&) = default;
};

template <planner::ConstOr<RunnerChoice> Choice, typename Visitor>
void VisitFields(Choice& choice, Visitor& visit) {
  visit(planner::Needed("name"), choice.name);
  visit(planner::Needed("hash"), choice.hash);
  visit("fields", choice.fields);
}

// Returns a text that identifies a runner's file: "runner", its name and the first digits of its
// hash.
inline std::string RunnerFileText(const std::string& name, const std::string& hash) {
  constexpr size_t kEnoughDigits = 16;
  return absl::StrCat("runner ", name, " ", hash.substr(0, kEnoughDigits));
}

// Returns the choice as a text that begins with RunnerFileText(). It is the worker version of the
// trial's results, so that only results of equal choices are compared and reused.
inline std::string VersionOf(const RunnerChoice& choice) {
  std::string text = RunnerFileText(choice.name, choice.hash);
  for (const auto& [name, value] : choice.fields) absl::StrAppend(&text, " ", name, "=", value);
  return text;
}

// Returns the RunnerFileText() with which VersionOf() begins.
inline std::string RunnerFileOf(const std::string& version) {
  size_t end = 0;
  for (int words = 0; words < 3 && end < version.size(); ++words) {
    end = std::min(version.find(' ', end + 1), version.size());
  }
  return version.substr(0, end);
}

}  // namespace meshwright::trial
