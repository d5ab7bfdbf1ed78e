#include "planner/interchange/shell_script.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/status_macros.h"
#include "planner/interchange/shell_conditions.h"
#include "planner/interchange/shell_variables.h"
#include "planner/interchange/shell_words.h"

namespace meshwright::planner {
namespace {

// The most scripts of `bash -c` inside each other.
constexpr int kMostScripts = 4;

// Words before a command that change nothing of its own words.
constexpr std::string_view kBeforeCommands[] = {"do",     "{",     "}",       "!",        "time",
                                                "export", "local", "declare", "readonly", "exec"};

// Counts of processes that a launcher takes from its environment.
constexpr std::string_view kCounts[] = {"NPROC_PER_NODE", "NNODES"};

template <typename Names>
bool IsAmong(const Names& names, const std::string& word) {
  return std::find(std::begin(names), std::end(names), word) != std::end(names);
}

class CommandReader {
 public:
  CommandReader(ShellVariables& variables, ShellScript& script)
      : variables_(variables), script_(script) {}

  // Reads the commands of a text, inside `depth` others, with `before` before each of them.
  absl::Status Read(const ConfigFile& file, int depth, const ShellCommand& before) {
    ShellConditions conditions;
    ShellWordReader reader(file, variables_, conditions);
    while (!reader.AtEndOfFile()) {
      ShellCommand command;
      RETURN_IF_ERROR(reader.ReadCommand(command));
      const std::string after = reader.TakeSeparator();
      if (TakeKeywords(command, conditions)) {
        if (conditions.InCondition()) {
          conditions.Test(command, after);
        } else {
          RETURN_IF_ERROR(Take(std::move(command), conditions.Runs(), file, depth, before));
        }
      }
      if (variables_.TooManyWords()) return reader.Error("has too many words");
    }
    for (ConfigFile& document : reader.TakeDocuments()) {
      script_.documents.push_back(std::move(document));
    }
    return absl::OkStatus();
  }

 private:
  // Takes the keywords that begin a command. Returns whether words of a command are left.
  static bool TakeKeywords(ShellCommand& command, ShellConditions& conditions) {
    while (!command.empty() && command.front().known()) {
      const std::string word = command.front().text;
      if (conditions.TakeKeyword(word)) {
        const bool ends =
            word != "if" && word != "elif" && word != "then" && word != "else" && word != "!";
        if (ends) return false;
      } else if (!IsAmong(kBeforeCommands, word)) {
        break;
      }
      command.erase(command.begin());
    }
    return !command.empty();
  }

  absl::Status Take(ShellCommand command, ShellTruth runs, const ConfigFile& file, int depth,
                    const ShellCommand& before) {
    ShellCommand counts;
    if (TakeAssignments(command, runs, counts) || command.empty()) return absl::OkStatus();
    if (runs == ShellTruth::kFalse) return absl::OkStatus();
    // `NAME=value exec command`
    while (!command.empty() && IsAmong(kBeforeCommands, command.front().text)) {
      command.erase(command.begin());
    }
    command.insert(command.begin(), counts.begin(), counts.end());
    command.insert(command.begin(), before.begin(), before.end());
    if (runs == ShellTruth::kUnknown) {
      for (ShellWord& word : command) word.conditional = true;
    }
    const size_t script = ScriptPlace(command);
    if (script == 0 || !command[script].known() || depth >= kMostScripts) {
      script_.commands.push_back(std::move(command));
      return absl::OkStatus();
    }
    return ReadInner(command, script, file, depth);
  }

  // Reads the script of `bash -c SCRIPT NAME ARGUMENTS`.
  absl::Status ReadInner(const ShellCommand& command, size_t script, const ConfigFile& file,
                         int depth) {
    const auto place = command.begin() + static_cast<std::ptrdiff_t>(script);
    std::vector<ShellWord> arguments;
    if (script + 2 < command.size()) arguments.assign(place + 2, command.end());
    const ShellCommand before(command.begin(), place - 2);
    const auto outer = std::exchange(variables_.arguments, std::move(arguments));
    const absl::Status status = Read({file.path, place->text}, depth + 1, before);
    variables_.arguments = outer;
    return status;
  }

  // Takes the leading assignments of a command, and appends those that count processes to `counts`.
  // Returns whether the command is only of assignments.
  bool TakeAssignments(ShellCommand& command, ShellTruth runs, ShellCommand& counts) {
    while (!command.empty()) {
      const std::string& text = command.front().text;
      const size_t sign = text.find('=');
      if (sign == std::string::npos) return false;
      const bool appends = sign > 0 && text[sign - 1] == '+';
      const std::string name = text.substr(0, appends ? sign - 1 : sign);
      if (!IsShellName(name)) return false;
      ShellWord value = command.front();
      value.text = text.substr(sign + 1);
      variables_.Assign(name, {value}, runs, appends, /*joins=*/appends);
      if (IsAmong(kCounts, name)) counts.push_back(command.front());
      command.erase(command.begin());
    }
    return true;
  }

  ShellVariables& variables_;
  ShellScript& script_;
};

}  // namespace

absl::StatusOr<ShellScript> ReadShellScript(const ConfigFile& file, const Variables& environment) {
  ShellScript script;
  ShellVariables variables(environment);
  RETURN_IF_ERROR(CommandReader(variables, script).Read(file, 0, {}));
  return script;
}

}  // namespace meshwright::planner
