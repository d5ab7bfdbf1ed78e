#include "tools/cli/launcher/sbatch_template.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "tools/cli/launcher/sbatch_options.h"

namespace meshwright::cli {
namespace {

constexpr absl::string_view kAgentsMark = "{agents}";
constexpr absl::string_view kExecAgents = "exec {agents}";
constexpr absl::string_view kSbatchMark = "#SBATCH";

// A script and the place in it that an error is about.
struct TemplatePlace {
  std::string_view file;
  size_t line = 0;  // from 0

  absl::Status Error(absl::string_view text, std::string_view problem) const {
    return FieldError(
        "sbatch_template",
        absl::StrCat(AbslView(file), ":", line + 1, ": ", absl::StripAsciiWhitespace(text)),
        problem);
  }
};

bool IsAgentsLine(absl::string_view line) {
  const absl::string_view bare = absl::StripAsciiWhitespace(line);
  return bare == kAgentsMark || bare == kExecAgents;
}

// Returns whether a command of the script has the placeholder. ${agents} is a variable.
bool HasAgentsMark(absl::string_view line) {
  if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "#")) return false;
  for (size_t at = line.find(kAgentsMark); at != absl::string_view::npos;
       at = line.find(kAgentsMark, at + 1)) {
    if (at == 0 || line[at - 1] != '$') return true;
  }
  return false;
}

// Adds the names of the options on a #SBATCH line to `options`.
absl::Status ReadSbatchOptions(const TemplatePlace& place, absl::string_view line,
                               std::vector<std::string>& options) {
  for (const absl::string_view other : {"#PBS", "#BSUB"}) {
    if (absl::StartsWith(line, other)) {
      return place.Error(line, "must be a #SBATCH line, since sbatch translates these options");
    }
  }
  if (!absl::StartsWith(line, kSbatchMark)) return absl::OkStatus();
  const absl::string_view text = line.substr(kSbatchMark.size());
  for (const absl::string_view separator : {"hetjob", "packjob"}) {
    if (absl::StripAsciiWhitespace(text) == separator) {
      return place.Error(line, "must not be there: the launcher's jobs have one component");
    }
  }
  for (std::string& option : OptionsOfLine(StdView(text))) {
    if (const std::string_view own = OwnOption(option); !own.empty()) {
      return place.Error(line, absl::StrCat("must not set --", AbslView(own),
                                            ", which the launcher itself sets or relies on"));
    }
    options.push_back(std::move(option));
  }
  return absl::OkStatus();
}

std::string JoinedLines(const std::vector<absl::string_view>& lines, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) absl::StrAppend(&text, lines[i], "\n");
  return text;
}

}  // namespace

absl::StatusOr<SbatchTemplate> SbatchTemplate::Parse(std::string_view file, std::string_view text) {
  std::vector<absl::string_view> lines = absl::StrSplit(AbslView(text), '\n');
  if (lines.back().empty()) lines.pop_back();
  if (lines.empty() || !absl::StartsWith(lines.front(), "#!")) {
    return TemplatePlace{file, 0}.Error(lines.empty() ? "" : lines.front(),
                                        "must name the script's shell, as #!/bin/bash does");
  }
  SbatchTemplate made;
  size_t head = 1;
  bool in_options = true;  // sbatch reads options up to the first command
  std::vector<size_t> found;
  for (size_t i = 1; i < lines.size(); ++i) {
    const absl::string_view bare = absl::StripAsciiWhitespace(lines[i]);
    in_options = in_options && (bare.empty() || bare.front() == '#');
    if (in_options) RETURN_IF_ERROR(ReadSbatchOptions({file, i}, lines[i], made.options_));
    if (in_options && absl::StartsWith(lines[i], kSbatchMark)) head = i + 1;
    if (IsAgentsLine(lines[i])) {
      found.push_back(i);
    } else if (HasAgentsMark(lines[i])) {
      return TemplatePlace{file, i}.Error(
          lines[i], "must have {agents} on a line of its own, alone or after exec");
    }
  }
  if (found.empty()) {
    return FieldError("sbatch_template", file,
                      "must have a line {agents}, where the agents are started");
  }
  if (found.size() > 1) {
    return TemplatePlace{file, found[1]}.Error(
        lines[found[1]],
        absl::StrCat("must not be there again: line ", found[0] + 1, " starts the agents"));
  }
  made.head_ = JoinedLines(lines, 0, head);
  made.before_ = JoinedLines(lines, head, found.front());
  made.after_ = JoinedLines(lines, found.front() + 1, lines.size());
  made.execs_ = absl::StripAsciiWhitespace(lines[found.front()]) == kExecAgents;
  return made;
}

bool SbatchTemplate::Sets(std::string_view option) const {
  return std::any_of(options_.begin(), options_.end(),
                     [&](const std::string& set) { return option.starts_with(set); });
}

std::string SbatchTemplate::Fill(const std::vector<std::string>& options,
                                 std::string_view agents) const {
  std::string script = head_;
  for (const std::string& option : options)
    absl::StrAppend(&script, kSbatchMark, " ", option, "\n");
  absl::StrAppend(&script, before_, AbslView(agents), after_);
  return script;
}

}  // namespace meshwright::cli
