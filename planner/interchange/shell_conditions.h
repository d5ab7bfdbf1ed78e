// ShellConditions follow the if, loops and cases of a shell script, and say whether the command
// that is being read runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/interchange/shell_word.h"

namespace meshwright::planner {

enum class ShellTruth : uint8_t { kFalse, kTrue, kUnknown };

class ShellConditions {
 public:
  // Returns whether commands run where the script is read.
  ShellTruth Runs() const;
  // Returns whether the next command is a part of a condition.
  bool InCondition() const { return in_condition_; }

  // Takes a keyword that begins a command. Returns false if the word is none that opens or closes
  // a branch.
  bool TakeKeyword(const std::string& word);
  // Takes a command of a condition, which `after` separates from the next: "&&", "||" or ";".
  void Test(const ShellCommand& command, const std::string& after);

 private:
  // A branch of an if that is open. Loops, cases and functions are branches of unknown truth.
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
