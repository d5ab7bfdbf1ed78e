// FrameworkFlag holds the framework of an export or an import (--to, --from). A user may give the
// framework's own name, or any name of a profile that describes it.
#pragma once

#include <ostream>
#include <string>

#include "CLI/CLI.hpp"

namespace meshwright::cli {

struct FrameworkFlag {
  std::string name;   // as planner::ExportTargetName() has it; empty if the flag is absent
  std::string typed;  // what the user typed if that is not `name`, else empty

  // Adds the option `flag`, such as "--to". A name that stands for no framework is refused, with a
  // list of the frameworks.
  CLI::Option* Add(CLI::App& app, const std::string& flag, const std::string& description);
};

// If the user typed another name than the framework's own, prints which framework that name was
// taken for.
void SayFramework(const FrameworkFlag& flag, const std::string& option, std::ostream& err);

}  // namespace meshwright::cli
