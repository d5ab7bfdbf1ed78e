// ShellConditions tracks the conditionals and loops of a shell script, and tells whether the
// command that is being read runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/interchange/shell_word.h"

namespace meshwright::planner {

enum class ShellTruth : uint8_t { kFalse, kTrue, kUnknown };

class ShellConditions {
 public:
  // Returns whether the commands at the current place of the script run.
  ShellTruth Runs() const;
  // Returns whether the next command is a part of a condition.
  bool InCondition() const { return in_condition_; }

  // Takes a keyword that begins a command. Returns false if the word is not one of those that
  // begin or end a branch or negate a condition.
  bool TakeKeyword(const std::string& word);
  // Takes a command of a condition. `after` is the separator behind it: "&&", "||" or ";".
  void Test(const ShellCommand& command, const std::string& after);

 private:
  // An open branch of an if. Loops and cases are branches of unknown truth.
  struct Branch {
    ShellTruth runs = ShellTruth::kUnknown;  // whether the current branch runs
    bool any_ran = false;                    // whether an earlier branch is known to run
    bool any_unknown = false;
  };

  static void Next(Branch& branch);
  static void Decide(Branch& branch, ShellTruth condition);

  std::vector<Branch> branches_;
  bool in_condition_ = false;
  bool negates_ = false;
  ShellTruth condition_ = ShellTruth::kTrue;
  std::string condition_operator_;
};

}  // namespace meshwright::planner
