// ShellScript is a shell script as far as its launch line needs it: the words of its commands, with
// the variables that the script itself sets to plain words.
//
// Nothing is run. A variable that the environment sets, a command's output and whatever else the
// text does not say is unknown. Of conditions, only comparisons of known words are decided; what
// stands under any other is conditional.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/interchange/config_entry.h"

namespace meshwright::planner {

struct ShellWord {
  std::string text;
  std::string unknown = {};  // the first unknown variable in it; empty if all is known
  bool conditional = false;
  bool varies = false;  // differs between the nodes or ranks of a run

  bool known() const { return unknown.empty(); }
};

using ShellCommand = std::vector<ShellWord>;

// Returns the commands that are neither assignments nor part of a condition. Returns
// InvalidArgument, which names the file, if a quote or a list does not end, or if variables would
// grow beyond the limits of a file.
absl::StatusOr<std::vector<ShellCommand>> ReadShellScript(const ConfigFile& file,
                                                          const Variables& environment);

}  // namespace meshwright::planner
