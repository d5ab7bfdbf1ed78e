// FakeMachine makes a Machine of the variables, the files and the python3 that a test defines.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "executor/launcher/machine.h"

namespace meshwright::launcher {

struct FakeMachine {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;
  // Targets of symbolic links, by the link's path.
  std::map<std::string, std::string> links;
  CommandEnd python;
  std::vector<std::vector<std::string>> commands;

  // Adds a folder with the layout of the Python package torch.
  void AddTorch(const std::string& folder, const std::string& version) {
    files[folder + "/version.py"] = "__version__ = '" + version + "'\n";
    files[folder + "/lib/libtorch_cpu.so"] = "";
  }
  void SetPython(const std::string& out, int exit_code = 0) {
    python = {.kind = CommandEnd::Reason::kEnded, .exit_code = exit_code, .out = out};
  }

  Machine machine() {
    return {.variable = [this](const std::string& name) -> std::optional<std::string> {
              const auto found = variables.find(name);
              if (found == variables.end()) return std::nullopt;
              return found->second;
            },
            .read_file = [this](const std::string& path) -> std::optional<std::string> {
              const auto found = files.find(Real(path));
              if (found == files.end()) return std::nullopt;
              return found->second;
            },
            .folders = [this](const std::string& folder) { return Folders(Real(folder)); },
            .is_folder = [this](const std::string& path) { return IsFolder(Real(path)); },
            .real_path = [this](const std::string& path) { return Real(path); },
            .run =
                [this](const std::vector<std::string>& command) {
                  commands.push_back(command);
                  return python;
                }};
  }

 private:
  std::string Real(const std::string& path) const {
    for (const auto& [link, target] : links) {
      if (path == link || path.rfind(link + "/", 0) == 0) return target + path.substr(link.size());
    }
    return path;
  }
  bool IsFolder(const std::string& path) const {
    const auto inside = files.lower_bound(path + "/");
    return inside != files.end() && inside->first.rfind(path + "/", 0) == 0;
  }
  std::vector<std::string> Folders(const std::string& folder) const {
    const std::string prefix = folder.back() == '/' ? folder : folder + "/";
    std::set<std::string> names;
    for (const auto& [path, text] : files) {
      if (path.rfind(prefix, 0) != 0) continue;
      const std::string inside = path.substr(prefix.size());
      if (const size_t slash = inside.find('/'); slash != std::string::npos) {
        names.insert(inside.substr(0, slash));
      }
    }
    return {names.begin(), names.end()};
  }
};

}  // namespace meshwright::launcher
