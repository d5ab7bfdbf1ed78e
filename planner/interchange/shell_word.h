// ShellWord is a word of a shell's command after the expansion of its variables.
#pragma once

#include <string>
#include <vector>

namespace meshwright::planner {

struct ShellWord {
  std::string text;
  std::string unknown = {};  // the first unknown variable in it; empty if all is known
  bool conditional = false;
  bool varies = false;  // differs between the nodes or ranks of a run

  bool known() const { return unknown.empty(); }
};

using ShellCommand = std::vector<ShellWord>;

}  // namespace meshwright::planner
