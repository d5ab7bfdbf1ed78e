// Machine holds the functions with which the launcher queries its machine. Tests replace them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "executor/launcher/run_command.h"

namespace meshwright::launcher {

struct Machine {
  // Returns the value of an environment variable, or nullopt if it is not set or empty.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::function<std::optional<std::string>(const std::string& path)> read_file;
  // Returns the sorted names of the folders inside `folder`, including links to folders. Returns
  // none if `folder` can't be read.
  std::function<std::vector<std::string>(const std::string& folder)> folders;
  std::function<bool(const std::string& path)> is_folder;
  // Returns `path` as an absolute path, with links resolved as far as it exists.
  std::function<std::string(const std::string& path)> real_path;
  // Runs a program from PATH with a time limit.
  std::function<CommandEnd(const std::vector<std::string>& command)> run;
};

Machine ThisMachine();

}  // namespace meshwright::launcher
