// SbatchTemplate is a batch script of a site's own, with #SBATCH lines and commands around the
// line that runs the agents. That line is "{agents}", or "exec {agents}" to replace the shell.
//
// The launcher's own options come after the script's #SBATCH lines, so that they win.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::cli {

class SbatchTemplate {
 public:
  // Makes a script that only runs the agents.
  SbatchTemplate() = default;

  // Returns InvalidArgument, which names --sbatch-template, `file` and the line, if the text is no
  // batch script, does not have the agents' line exactly once, or sets an option that is the
  // launcher's own (OwnOption()).
  static absl::StatusOr<SbatchTemplate> Parse(std::string_view file, std::string_view text);

  // Returns whether the script sets an option of sbatch, given by its long name.
  bool Sets(std::string_view option) const;
  // Returns whether the agents replace the shell.
  bool execs() const { return execs_; }

  // Returns the script with these options, such as "--nodes=2", and with these lines in place of
  // the agents' line.
  std::string Fill(const std::vector<std::string>& options, std::string_view agents) const;

 private:
  std::string head_ = "#!/bin/sh\n";  // up to the last #SBATCH line
  std::string before_;                // from there to the agents' line
  std::string after_;
  bool execs_ = true;
  std::vector<std::string> options_;  // long names, as the script writes them
};

}  // namespace meshwright::cli
