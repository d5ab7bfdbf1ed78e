#include "executor/command/placeholders.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/layout/keys.h"

namespace meshwright::command {
namespace {

constexpr char kRunnerFolder[] = "runner_folder";

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Calls `text(part)` for what is outside placeholders and `name(part)` for the names of
// placeholders. A brace that begins no name, as in {"a": 1}, is text.
template <typename Text, typename Name>
void Walk(std::string_view argument, Text text, Name name) {
  size_t begin = 0;
  while (begin < argument.size()) {
    const size_t open = argument.find('{', begin);
    if (open == std::string_view::npos) break;
    size_t close = open + 1;
    while (close < argument.size() && IsNameCharacter(argument[close])) ++close;
    const bool is_name = close < argument.size() && argument[close] == '}' && close > open + 1;
    text(argument.substr(begin, is_name ? open - begin : close - begin));
    if (is_name) name(argument.substr(open + 1, close - open - 1));
    begin = is_name ? close + 1 : close;
  }
  text(argument.substr(std::min(begin, argument.size())));
}

bool IsIn(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the name if the argument is a placeholder and nothing else, else an empty text.
std::string_view WholeName(std::string_view argument) {
  std::string_view whole;
  Walk(
      argument, [](std::string_view) {},
      [&](std::string_view name) {
        if (name.size() + 2 == argument.size()) whole = name;
      });
  return whole;
}

}  // namespace

const std::vector<std::string>& InnerPlaceholders() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"ranks",   "world_size", "nodes",        "node",
                                    "address", "port",       "folder",       "steps",
                                    "seed",    "seq_len",    "global_batch", kRunnerFolder};
    for (const planner::LayoutKey& key : planner::kLayoutKeys) all.emplace_back(key.name);
    return all;
  }();
  return names;
}

bool HasPlaceholder(const std::vector<std::string>& argv, std::string_view placeholder) {
  bool has = false;
  for (const std::string& argument : argv) {
    Walk(
        argument, [](std::string_view) {},
        [&](std::string_view name) { has |= name == placeholder; });
  }
  return has;
}

absl::Status CheckPlaceholders(std::string_view path, const std::vector<std::string>& argv,
                               const std::vector<std::string>& whole, bool of_slice) {
  for (size_t i = 0; i < argv.size(); ++i) {
    absl::Status status;
    const std::string field = absl::StrCat(std::string(path), "[", i, "]");
    const auto check = [&](std::string_view name) {
      if (!status.ok()) return;
      if (IsIn(whole, name)) {
        if (WholeName(argv[i]) != name) {
          status = FieldError(
              field, argv[i],
              absl::StrCat("must have {", std::string(name), "} as an argument of its own"));
        }
      } else if (!IsIn(InnerPlaceholders(), name) && !(of_slice && name == kRankPlaceholder)) {
        status = FieldError(
            field, argv[i],
            absl::StrCat("has an unknown placeholder; known are ", absl::StrJoin(whole, ", "),
                         whole.empty() ? "" : ", ", absl::StrJoin(InnerPlaceholders(), ", ")));
      }
      if (status.ok() && i == 0 && name != kRunnerFolder) {
        status = FieldError(field, argv[i],
                            "must be a program, with no placeholder but {runner_folder}");
      }
    };
    Walk(
        argv[i], [](std::string_view) {}, check);
    RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

std::vector<std::string> Substitute(const std::vector<std::string>& argv, const WholeWords& whole,
                                    const InnerWords& inner) {
  std::vector<std::string> arguments;
  for (const std::string& argument : argv) {
    const auto words = whole.find(std::string(WholeName(argument)));
    if (words != whole.end()) {
      arguments.insert(arguments.end(), words->second.begin(), words->second.end());
      continue;
    }
    std::string& result = arguments.emplace_back();
    Walk(
        argument, [&](std::string_view text) { result += text; },
        [&](std::string_view name) { result += inner.at(std::string(name)); });
  }
  return arguments;
}

}  // namespace meshwright::command
