// ShellScript is what an import needs of a shell script to find its launch line: the words of its
// commands after the expansion of variables, and the files that it writes.
//
// Nothing is run. The output of a command, and a variable that neither the script nor the caller
// sets, are unknown. Only conditions that compare known words are decided; commands under any other
// condition are conditional. The script of `bash -c` is read as commands of its own.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "planner/interchange/config_entry.h"
#include "planner/interchange/shell_word.h"

namespace meshwright::planner {

struct ShellScript {
  std::vector<ShellCommand> commands;  // neither assignments nor part of a condition
  std::vector<ConfigFile> documents;   // here-documents that the script writes to files
};

// Returns InvalidArgument, which names the file, if a quote or a list does not end, or if expanded
// variables exceed the limits of a file.
absl::StatusOr<ShellScript> ReadShellScript(const ConfigFile& file, const Variables& environment);

}  // namespace meshwright::planner
