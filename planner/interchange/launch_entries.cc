#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/interchange/config_entry.h"
#include "planner/interchange/shell_script.h"

namespace meshwright::planner {
namespace {

// Programs whose command is a launch line. A path may stand before them.
constexpr std::string_view kLaunchers[] = {"torchrun",
                                           "accelerate",
                                           "deepspeed",
                                           "python",
                                           "python3",
                                           "swift",
                                           "megatron",
                                           "llamafactory-cli",
                                           "axolotl",
                                           "torch.distributed.run",
                                           "torch.distributed.launch"};

bool IsFlag(absl::string_view word) {
  return word.size() > 2 && absl::StartsWith(word, "--") &&
         absl::ascii_isalpha(static_cast<unsigned char>(word[2]));
}

// Returns whether the word is an override such as model.tensor_model_parallel_size=4. The first
// character of a Hydra override may be + or ~.
bool IsOverride(absl::string_view word) {
  const size_t sign = word.find('=');
  if (sign == absl::string_view::npos || sign == 0) return false;
  for (size_t i = 0; i < sign; ++i) {
    const char c = word[i];
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' &&
        !(i < 2 && (c == '+' || c == '~'))) {
      return false;
    }
  }
  return !absl::ascii_isdigit(static_cast<unsigned char>(word[0]));
}

bool IsLauncher(absl::string_view word) {
  const absl::string_view name = word.substr(word.rfind('/') + 1);
  return std::find(std::begin(kLaunchers), std::end(kLaunchers), StdView(name)) !=
         std::end(kLaunchers);
}

size_t CountNames(const ShellCommand& command) {
  return static_cast<size_t>(std::count_if(
      command.begin(), command.end(),
      [](const ShellWord& word) { return IsFlag(word.text) || IsOverride(word.text); }));
}

// Returns the words of the launch line: those of the command with a launcher and the most names. A
// list of arguments may be on several lines.
ShellCommand LaunchLine(const std::vector<ShellCommand>& commands) {
  ShellCommand best;
  ShellCommand arguments;
  for (const ShellCommand& command : commands) {
    const bool launches = !IsFlag(command.front().text) &&
                          std::any_of(command.begin(), command.end(),
                                      [](const ShellWord& word) { return IsLauncher(word.text); });
    if (launches) {
      if (CountNames(command) > CountNames(best)) best = command;
    } else if (IsFlag(command.front().text) || IsOverride(command.front().text)) {
      arguments.insert(arguments.end(), command.begin(), command.end());
    }
  }
  return best.empty() ? arguments : best;
}

void AddWord(const ShellWord& word, ConfigEntry& entry) {
  absl::StrAppend(&entry.value, entry.value.empty() ? "" : " ", word.text);
  if (!word.known()) entry.unknown_variable = word.unknown;
  entry.conditional = entry.conditional || word.conditional;
}

ConfigEntry EntryOf(const ShellWord& word, size_t sign) {
  ConfigEntry entry = {word.text.substr(0, sign), word.text.substr(sign + 1), word.unknown,
                       word.conditional};
  while (!entry.name.empty() && (entry.name[0] == '+' || entry.name[0] == '~')) {
    entry.name.erase(0, 1);
  }
  const std::string& value = entry.value;  // Hydra has quotes of its own
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0]) {
    entry.value = value.substr(1, value.size() - 2);
  }
  return entry;
}

}  // namespace

absl::StatusOr<std::vector<ConfigEntry>> ReadLaunchEntries(const ConfigFile& file,
                                                           const Variables& environment,
                                                           std::vector<ConfigFile>* documents) {
  ASSIGN_OR_RETURN(ShellScript script, ReadShellScript(file, environment));
  if (documents != nullptr) *documents = std::move(script.documents);
  const ShellCommand line = LaunchLine(script.commands);
  if (line.empty()) {
    return FieldError("file", file.path,
                      "must have a launch line, such as torchrun … train.py --name value, or be a "
                      "list of arguments");
  }
  std::vector<ConfigEntry> entries;
  bool takes_values = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const ShellWord& word = line[i];
    const size_t sign = word.text.find('=');
    if (IsFlag(word.text)) {
      takes_values = sign == std::string::npos;
      entries.push_back(takes_values ? ConfigEntry{word.text, "", word.unknown, word.conditional}
                                     : EntryOf(word, sign));
    } else if (IsOverride(word.text) &&
               (!takes_values ||
                absl::StrContains(absl::string_view(word.text).substr(0, sign), '.'))) {
      entries.push_back(EntryOf(word, sign));
      takes_values = false;
    } else if (word.text == "--") {
      takes_values = false;
    } else if (word.text == "-m") {
      ++i;  // a module in place of a script
      takes_values = false;
    } else if (absl::EndsWith(word.text, ".py")) {
      takes_values = false;
    } else if (takes_values) {
      AddWord(word, entries.back());
    } else if (!word.known() && i > 0) {
      // An unknown variable that stands alone may hold any arguments.
      entries.push_back({"$" + word.unknown, word.text, word.unknown, word.conditional});
    }
    if (entries.size() > kMostEntries) {
      return FieldError("file", file.path,
                        absl::StrCat("must have at most ", kMostEntries, " arguments"));
    }
  }
  return entries;
}

}  // namespace meshwright::planner
