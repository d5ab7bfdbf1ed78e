#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/interchange/config_entry.h"

namespace meshwright::planner {
namespace {

// A map that is open while its inner lines are read.
struct OpenMap {
  size_t indent;
  std::string name;  // with the names around it and a dot, empty for the outermost
};

// Returns the line without its comment: a # that begins the line or follows a blank, outside of
// quotes.
absl::string_view WithoutComment(absl::string_view line) {
  char quote = '\0';
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if ((c == '"' || c == '\'') && (i == 0 || line[i - 1] == ' ')) {
      quote = c;
    } else if (c == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      return line.substr(0, i);
    }
  }
  return line;
}

std::string Unquoted(absl::string_view value) {
  value = absl::StripAsciiWhitespace(value);
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0]) {
    value = value.substr(1, value.size() - 2);
  }
  return std::string(value);
}

absl::Status YamlError(const ConfigFile& file, size_t line, std::string_view problem) {
  return FieldError("file", absl::StrCat(file.path, ":", line), problem);
}

// Returns the launch line that comments have, without their signs; empty if there is none.
std::string LaunchInComments(const ConfigFile& file, std::string_view launcher) {
  std::string script;
  bool inside = false;
  for (absl::string_view line : absl::StrSplit(file.text, '\n')) {
    if (!absl::ConsumePrefix(&line, "#")) break;
    line = absl::StripAsciiWhitespace(line);
    inside = inside || absl::StartsWith(line, AbslView(launcher));
    if (inside) absl::StrAppend(&script, line, "\n");
    if (inside && !absl::EndsWith(line, "\\")) break;
  }
  return script;
}

}  // namespace

absl::StatusOr<std::vector<ConfigEntry>> ReadYamlEntries(const ConfigFile& file,
                                                         std::string_view launcher) {
  std::vector<ConfigEntry> entries;
  std::vector<OpenMap> maps = {{0, ""}};
  std::string pending;  // a key whose value is on the next lines
  size_t pending_indent = 0;
  bool in_list = false;
  size_t list_indent = 0;  // of the list that is being read
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(file.text, '\n')) {
    ++number;
    line = absl::StripTrailingAsciiWhitespace(WithoutComment(line));
    const size_t indent = line.find_first_not_of(' ');
    if (indent == absl::string_view::npos || line == "---") continue;
    line.remove_prefix(indent);
    if (line[0] == '\t') return YamlError(file, number, "must be indented with blanks");
    if (absl::ConsumePrefix(&line, "- ") || line == "-") {
      if (!pending.empty()) {
        entries.push_back({pending, ""});
        pending.clear();
      }
      if (entries.empty()) return YamlError(file, number, "must be a map, not a list");
      std::string& value = entries.back().value;
      absl::StrAppend(&value, value.empty() ? "" : " ", Unquoted(line));
      in_list = true;
      list_indent = indent;
      continue;
    }
    // A map in a list is a text, since no list says anything of a layout.
    if (in_list && indent > list_indent) {
      absl::StrAppend(&entries.back().value, " ", line);
      continue;
    }
    in_list = false;
    if (!pending.empty()) {
      if (indent > pending_indent) {
        maps.push_back({indent, pending + "."});
      } else {
        entries.push_back({pending, ""});
      }
      pending.clear();
    }
    while (maps.size() > 1 && indent < maps.back().indent) maps.pop_back();
    if (indent != maps.back().indent) {
      return YamlError(file, number, "must be indented as the lines around it");
    }
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos || colon == 0 ||
        (colon + 1 < line.size() && line[colon + 1] != ' ')) {
      return YamlError(file, number, "must be a line KEY: VALUE");
    }
    const std::string name = absl::StrCat(maps.back().name, Unquoted(line.substr(0, colon)));
    const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
    if (value.empty()) {
      pending = name;
      pending_indent = indent;
    } else {
      entries.push_back({name, Unquoted(value)});
    }
    if (entries.size() > kMostEntries) return YamlError(file, number, "has too many keys");
  }
  if (!pending.empty()) entries.push_back({pending, ""});
  const std::string script = LaunchInComments(file, launcher);
  if (script.empty()) return entries;
  ASSIGN_OR_RETURN(const std::vector<ConfigEntry> launched,
                   ReadLaunchEntries({file.path, script}, {}));
  entries.insert(entries.end(), launched.begin(), launched.end());
  return entries;
}

}  // namespace meshwright::planner
