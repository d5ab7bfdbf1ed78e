// What the launcher asks of the machine that it runs on. Tests replace each answer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "executor/launcher/run_command.h"

namespace meshwright::launcher {

struct Machine {
  // An environment variable; nullopt where it is not set or empty.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::function<std::optional<std::string>(const std::string& path)> read_file;
  // Names of the folders inside a folder, links to folders included, in order; none where it can't
  // be read.
  std::function<std::vector<std::string>(const std::string& folder)> folders;
  std::function<bool(const std::string& path)> is_folder;
  // Absolute and free of links as far as it exists.
  std::function<std::string(const std::string& path)> real_path;
  // Runs a program from PATH for a bounded time.
  std::function<CommandEnd(const std::vector<std::string>& command)> run;
};

// This machine.
Machine ThisMachine();

}  // namespace meshwright::launcher
