#include "planner/interchange/launch_script.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/data/embedded.h"
#include "planner/interchange/export_job.h"

namespace meshwright::planner {

namespace {

constexpr char kNextLine[] = " \\\n  ";

// How the shell of a node says which node it is, and where the ranks meet.
struct NodeTexts {
  std::string rank;
  std::string address;
  std::string port;
};

constexpr char kProcesses[] = "\"$processes\"";

// Returns the commands that set $processes where the last node starts fewer.
std::string CountProcesses(const NodePlacement& placed, const std::string& rank,
                           const char* separator) {
  return absl::StrCat("processes=", placed.per_node, separator, "if [ ", rank, " -eq ",
                      placed.nodes - 1, " ]; then processes=", placed.on_last, "; fi", separator);
}

// Returns what stands before the program, with a blank or a line's end behind it.
std::string LauncherText(const ExportedJob& job, const NodeTexts& node, const char* separator) {
  const NodePlacement& placed = job.placed;
  const std::string processes = placed.fills_last() ? absl::StrCat(placed.per_node) : kProcesses;
  switch (job.launcher) {
    case RankLauncher::kTorchrun:
      return absl::StrCat("torchrun --nnodes ", placed.nodes, " --nproc-per-node ", processes,
                          separator, "--node-rank ", node.rank, " --master-addr ", node.address,
                          " --master-port ", node.port, separator);
    case RankLauncher::kRay:
      return absl::StrCat("ray symmetric-run --address ", node.address, ":", node.port,
                          " --min-nodes ", placed.nodes, " --num-gpus ", placed.per_node, " --",
                          separator);
    case RankLauncher::kAccelerate:
      return absl::StrCat("accelerate launch --config_file ", ShellQuoted(job.files.front().name),
                          separator, "--machine_rank ", node.rank, " --main_process_ip ",
                          node.address, " --main_process_port ", node.port, separator);
    case RankLauncher::kProgram:
      return absl::StrCat("NNODES=", placed.nodes, " NPROC_PER_NODE=", processes,
                          " NODE_RANK=", node.rank, " MASTER_ADDR=", node.address,
                          " MASTER_PORT=", node.port, separator);
  }
  return "";
}

// Returns the program with its arguments, and "$@" for those that the user adds to the script's.
std::string ProgramText(const ExportedJob& job) {
  std::string text = QuotedWords(job.program);
  for (const AskedArgument& asked : job.asked) {
    absl::StrAppend(&text, " ", asked.flag, " \"${", asked.variable, ":?", asked.what, "}\"");
  }
  for (const std::vector<std::string>& line : job.argument_lines) {
    absl::StrAppend(&text, kNextLine, QuotedWords(line));
  }
  return absl::StrCat(text, kNextLine, "\"$@\"");
}

// Returns a line that no line of the text is, for the end of a here-document.
std::string EndMarkOf(const std::string& text) {
  std::string mark = "END_OF_FILE";
  while (absl::StrContains(absl::StrCat("\n", text), absl::StrCat("\n", mark, "\n"))) mark += "_";
  return mark;
}

std::string FileText(const ExportedFile& file) {
  const std::string mark = EndMarkOf(file.text);
  return absl::StrCat("cat >", ShellQuoted(file.name), " <<'", mark, "'\n", file.text, mark, "\n");
}

// Returns the lines that write the files and set the variables.
std::string EnvironmentText(const ExportedJob& job, bool in_slurm) {
  std::string text;
  for (const EnvironmentVariable& variable : job.environment) {
    absl::StrAppend(&text, variable.value ? "export " : "unset ", variable.name);
    if (variable.value) absl::StrAppend(&text, "=", ShellQuoted(*variable.value));
    text += "\n";
  }
  if (in_slurm) {
    absl::StrAppend(&text,
                    "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n",
                    "MASTER_PORT=${MASTER_PORT:-29500}\nexport MASTER_ADDR MASTER_PORT\n");
  }
  for (const ExportedFile& file : job.files) text += FileText(file);
  return text;
}

// Returns the words that srun starts once a node: a shell that knows which node it is on becomes
// the launcher.
std::string NodeCommand(const ExportedJob& job) {
  const NodeTexts node = {"\"$SLURM_NODEID\"", "\"$MASTER_ADDR\"", "\"$MASTER_PORT\""};
  const std::string launcher = LauncherText(job, node, " ");
  std::string script =
      job.placed.fills_last() ? "" : CountProcesses(job.placed, "\"$SLURM_NODEID\"", "; ");
  if (job.launcher == RankLauncher::kProgram) {
    absl::StrAppend(&script, launcher, "exec \"$@\"");
  } else {
    absl::StrAppend(&script, "exec ", launcher, "\"$@\"");
  }
  return absl::StrCat("bash -c '", script, "' bash", kNextLine, ProgramText(job));
}

std::string TorchrunScript(const ExportedJob& job) {
  const NodeTexts node = {"\"${NODE_RANK:-0}\"", "\"${MASTER_ADDR:-localhost}\"",
                          "\"${MASTER_PORT:-29500}\""};
  std::string text = absl::StrCat("#!/usr/bin/env bash\n", CommentLines(job.comments),
                                  EnvironmentText(job, false));
  if (!job.placed.fills_last()) {
    absl::StrAppend(&text, "# The last of ", job.placed.nodes,
                    " nodes runs fewer processes; every node needs its NODE_RANK.\n",
                    CountProcesses(job.placed, node.rank, "\n"));
  }
  return absl::StrCat(text, LauncherText(job, node, kNextLine), ProgramText(job), "\n");
}

std::string SrunScript(const ExportedJob& job) {
  return absl::StrCat("#!/usr/bin/env bash\n", CommentLines(job.comments),
                      "# Run this script inside an allocation", " of ", job.placed.nodes,
                      " nodes, such as that of salloc --nodes ", job.placed.nodes, ".\n",
                      EnvironmentText(job, true), "srun --nodes=", job.placed.nodes,
                      " --ntasks-per-node=1 --cpu-bind=none", kNextLine, NodeCommand(job), "\n");
}

// --- The batch file.

// Returns the most nodes of one rack that divide the nodes of the job.
int64_t SegmentOf(int64_t nodes, int64_t joined_nodes) {
  int64_t segment = std::min(nodes, joined_nodes);
  while (nodes % segment != 0) --segment;
  return segment;
}

// Returns the placeholders of a line: names in braces that no $ precedes.
std::vector<std::string> PlaceholdersOf(const std::string& line) {
  std::vector<std::string> names;
  for (size_t open = line.find('{'); open != std::string::npos; open = line.find('{', open + 1)) {
    size_t end = open + 1;
    while (end < line.size() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_')) {
      ++end;
    }
    const bool is_name = end > open + 1 && end < line.size() && line[end] == '}';
    if (is_name && (open == 0 || line[open - 1] != '$')) {
      names.push_back(line.substr(open, end - open + 1));
    }
  }
  return names;
}

struct Placeholder {
  std::string_view name;
  std::string text;
};

absl::StatusOr<std::string> BatchFile(const ExportedJob& job, const LaunchRequest& request) {
  const std::string from = request.batch_template.empty()
                               ? std::string(EmbeddedLaunchTemplates().front().text)
                               : request.batch_template;
  std::string environment = EnvironmentText(job, true);
  environment.pop_back();  // the template has the line's end
  const int64_t segment = SegmentOf(job.placed.nodes, request.joined_nodes);
  const std::array<Placeholder, 5> known = {{{"{command}", NodeCommand(job)},
                                             {"{nodes}", absl::StrCat(job.placed.nodes)},
                                             {"{gpus_per_node}", absl::StrCat(job.placed.per_node)},
                                             {"{env}", environment},
                                             {"{segment}", absl::StrCat(segment)}}};
  std::vector<std::string_view> names;
  // Variables of the shell, such as ${nodes}, are no placeholders.
  std::vector<std::pair<absl::string_view, absl::string_view>> replacements = {{"${", "${"}};
  for (const Placeholder& one : known) {
    names.push_back(one.name);
    replacements.emplace_back(AbslView(one.name), one.text);
  }
  std::vector<std::string> lines;
  bool has_command = false;
  bool is_first = true;
  for (const absl::string_view text : absl::StrSplit(from, '\n')) {
    const std::string line(text);
    bool is_kept = true;
    for (const std::string& name : PlaceholdersOf(line)) {
      const auto is_it = [&](std::string_view one) { return one == name; };
      if (std::none_of(names.begin(), names.end(), is_it)) {
        return FieldError("template", name, absl::StrCat("must be ", ListInWords(names, "or")));
      }
      has_command = has_command || name == "{command}";
      if (name == "{segment}" && request.joined_nodes <= 1) is_kept = false;
    }
    if (is_kept) lines.push_back(absl::StrReplaceAll(line, replacements));
    if (is_first) {
      for (const absl::string_view comment :
           absl::StrSplit(CommentLines(job.comments), '\n', absl::SkipEmpty())) {
        lines.emplace_back(comment);
      }
    }
    is_first = false;
  }
  if (!has_command) return FieldError("template", "(no command)", "must have {command}");
  return absl::StrJoin(lines, "\n");
}

}  // namespace

std::string ShellQuoted(std::string_view word) {
  const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::StrContains("_./:,+@%=-", absl::string_view(&c, 1));
  });
  if (is_plain) return std::string(word);
  if (word.find('\'') != std::string_view::npos &&
      word.find_first_of("\"$`\\!\n") == std::string_view::npos) {
    return absl::StrCat("\"", AbslView(word), "\"");
  }
  return absl::StrCat("'", absl::StrReplaceAll(AbslView(word), {{"'", "'\\''"}}), "'");
}

std::string QuotedWords(const std::vector<std::string>& words) {
  return absl::StrJoin(words, " ", [](std::string* out, const std::string& word) {
    absl::StrAppend(out, ShellQuoted(word));
  });
}

absl::StatusOr<std::string> LaunchScript(const ExportedJob& job, const LaunchRequest& request) {
  switch (request.form) {
    case LaunchForm::kTorchrun:
      return TorchrunScript(job);
    case LaunchForm::kSrun:
      return SrunScript(job);
    case LaunchForm::kSbatch:
      return BatchFile(job, request);
  }
  return FieldError("launch", "(unknown)", "must be torchrun, srun or sbatch");
}

}  // namespace meshwright::planner
