// ShellScript is a shell script as far as its launch line needs it: the words of its commands, with
// the variables that the script itself sets to plain words, and the files that it writes.
//
// Nothing is run. A variable that the environment sets, a command's output and whatever else the
// text does not say is unknown. Of conditions, only comparisons of known words are decided; what
// stands under any other is conditional. The script of `bash -c` is read as commands of its own.
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

// Returns InvalidArgument, which names the file, if a quote or a list does not end, or if variables
// would grow beyond the limits of a file.
absl::StatusOr<ShellScript> ReadShellScript(const ConfigFile& file, const Variables& environment);

}  // namespace meshwright::planner
