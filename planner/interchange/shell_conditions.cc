#include "planner/interchange/shell_conditions.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace meshwright::planner {
namespace {

ShellTruth TruthOf(const ShellCommand& command) {
  std::vector<std::string> words;
  for (const ShellWord& word : command) {
    if (!word.known() || word.conditional || word.varies) return ShellTruth::kUnknown;
    words.push_back(word.text);
  }
  const auto is = [](bool value) { return value ? ShellTruth::kTrue : ShellTruth::kFalse; };
  if (words.size() < 3 || (words.front() != "[" && words.front() != "[["))
    return ShellTruth::kUnknown;
  words.pop_back();
  words.erase(words.begin());
  if (words.size() == 2 && words[0] == "-z") return is(words[1].empty());
  if (words.size() == 2 && words[0] == "-n") return is(!words[1].empty());
  if (words.size() != 3) return ShellTruth::kUnknown;
  const std::string& sign = words[1];
  if (sign == "=" || sign == "==") {
    if (absl::StrContains(words[2], '*')) return ShellTruth::kUnknown;
    return is(words[0] == words[2]);
  }
  if (sign == "!=") return is(words[0] != words[2]);
  int64_t left = 0;
  int64_t right = 0;
  if (!absl::SimpleAtoi(words[0], &left) || !absl::SimpleAtoi(words[2], &right)) {
    return ShellTruth::kUnknown;
  }
  if (sign == "-eq") return is(left == right);
  if (sign == "-ne") return is(left != right);
  if (sign == "-gt") return is(left > right);
  if (sign == "-lt") return is(left < right);
  if (sign == "-ge") return is(left >= right);
  if (sign == "-le") return is(left <= right);
  return ShellTruth::kUnknown;
}

bool OpensUnknownBranch(const std::string& word) {
  return word == "for" || word == "while" || word == "until" || word == "case" || word == "select";
}

}  // namespace

ShellTruth ShellConditions::Runs() const {
  ShellTruth all = ShellTruth::kTrue;
  for (const Branch& branch : branches_) {
    if (branch.runs == ShellTruth::kFalse) return ShellTruth::kFalse;
    if (branch.runs == ShellTruth::kUnknown) all = ShellTruth::kUnknown;
  }
  return all;
}

bool ShellConditions::TakeKeyword(const std::string& word) {
  if (word == "if" || word == "elif") {
    if (word == "if") branches_.emplace_back();
    if (word == "elif" && !branches_.empty()) Next(branches_.back());
    condition_ = ShellTruth::kTrue;
    condition_operator_.clear();
    in_condition_ = true;
  } else if (word == "then") {
    in_condition_ = false;
    if (!branches_.empty()) Decide(branches_.back(), condition_);
  } else if (word == "else") {
    if (!branches_.empty()) {
      Next(branches_.back());
      Decide(branches_.back(), ShellTruth::kTrue);
    }
  } else if (OpensUnknownBranch(word)) {
    branches_.emplace_back();
  } else if (word == "fi" || word == "done" || word == "esac") {
    if (!branches_.empty()) branches_.pop_back();
  } else if (word == "!" && in_condition_) {
    negates_ = true;
  } else {
    return false;
  }
  return true;
}

void ShellConditions::Test(const ShellCommand& command, const std::string& after) {
  ShellTruth truth = TruthOf(command);
  if (negates_ && truth != ShellTruth::kUnknown) {
    truth = truth == ShellTruth::kTrue ? ShellTruth::kFalse : ShellTruth::kTrue;
  }
  negates_ = false;
  if (condition_operator_ == "||") {
    if (condition_ != ShellTruth::kTrue) {
      condition_ = condition_ == ShellTruth::kUnknown && truth != ShellTruth::kTrue
                       ? ShellTruth::kUnknown
                       : truth;
    }
  } else if (condition_operator_ == "&&") {
    if (condition_ != ShellTruth::kFalse) {
      condition_ = condition_ == ShellTruth::kUnknown && truth != ShellTruth::kFalse
                       ? ShellTruth::kUnknown
                       : truth;
    }
  } else {
    condition_ = truth;
  }
  condition_operator_ = after;
}

void ShellConditions::Next(Branch& branch) {
  branch.any_ran = branch.any_ran || branch.runs == ShellTruth::kTrue;
  branch.any_unknown = branch.any_unknown || branch.runs == ShellTruth::kUnknown;
  branch.runs = ShellTruth::kUnknown;
}

void ShellConditions::Decide(Branch& branch, ShellTruth condition) {
  branch.runs = branch.any_ran ? ShellTruth::kFalse : condition;
  if (branch.any_unknown && branch.runs == ShellTruth::kTrue) branch.runs = ShellTruth::kUnknown;
}

}  // namespace meshwright::planner
