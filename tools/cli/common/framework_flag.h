// FrameworkFlag holds the framework of an export or an import (--to, --from), which a user may name
// as that framework, as one of its profiles, or by any other name of those.
#pragma once

#include <ostream>
#include <string>

#include "CLI/CLI.hpp"

namespace meshwright::cli {

struct FrameworkFlag {
  std::string name;   // as planner::ExportTargetName() has it; empty if the flag is absent
  std::string typed;  // another name that the user typed; empty if there is none

  // Adds the option `flag`, such as "--to". A name that stands for no framework is refused with a
  // list of those that there are.
  CLI::Option* Add(CLI::App& app, const std::string& flag, const std::string& description);
};

// Says which framework was taken for a name that is not its own.
void SayFramework(const FrameworkFlag& flag, const std::string& option, std::ostream& err);

}  // namespace meshwright::cli
