#include "planner/interchange/file_export.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "planner/interchange/launch_script.h"

namespace meshwright::planner {
namespace {

std::string Launcher(const ExportedJob& job) {
  const NodePlacement& placed = job.placed;
  switch (job.launcher) {
    case RankLauncher::kTorchrun:
      return absl::StrCat("torchrun --nnodes ", placed.nodes, " --nproc-per-node ",
                          placed.per_node);
    case RankLauncher::kRay:
      return absl::StrCat("ray symmetric-run --min-nodes ", placed.nodes, " --");
    case RankLauncher::kAccelerate:
      return absl::StrCat("accelerate launch --config_file ", std::string(kThisFile));
    case RankLauncher::kProgram:
      return absl::StrCat("NNODES=", placed.nodes, " NPROC_PER_NODE=", placed.per_node);
  }
  return "";
}

std::string WordsNaming(const std::string& file, std::vector<std::string> words) {
  std::replace(words.begin(), words.end(), file, std::string(kThisFile));
  return QuotedWords(words);
}

std::string CommandComment(const ExportedJob& job) {
  std::string text = "#   ";
  const std::string& file = job.files.front().name;
  for (const EnvironmentVariable& variable : job.environment) {
    if (variable.value)
      absl::StrAppend(&text, variable.name, "=", ShellQuoted(*variable.value), " ");
  }
  absl::StrAppend(&text, Launcher(job), " ", QuotedWords(job.program));
  for (const std::vector<std::string>& line : job.argument_lines) {
    absl::StrAppend(&text, job.argument_lines.size() == 1 ? " " : " \\\n#     ",
                    WordsNaming(file, line));
  }
  absl::StrAppend(&text, "\n");
  if (job.placed.fills_last()) return text;
  return absl::StrCat(text, "# The last node runs ", job.placed.on_last, " processes.\n");
}

}  // namespace

ExportedJob FileExport(const ExportJob& job, std::string name,
                       const std::vector<std::string>& use) {
  ExportedJob exported;
  exported.is_file = true;
  exported.placed = PlacementOf(job);
  exported.files = {{std::move(name), ""}};
  exported.comments = {absl::StrCat(job.model.name, " as ", FormatLayout(job.layout))};
  exported.comments.insert(exported.comments.end(), use.begin(), use.end());
  return exported;
}

void FinishFile(ExportedJob& exported, const std::string& text) {
  exported.files.front().text =
      absl::StrCat(CommentLines(exported.comments), CommandComment(exported), text);
  exported.comments.resize(1);  // the file says the rest
}

}  // namespace meshwright::planner
