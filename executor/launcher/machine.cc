#include "executor/launcher/machine.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace meshwright::launcher {
namespace {

// Starting Python from a cold network file system takes seconds.
constexpr std::chrono::seconds kCommandLimit(30);

std::optional<std::string> Variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool IsFolder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

std::string RealPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  // Drops a trailing slash.
  return error ? path : (real.has_filename() ? real : real.parent_path()).string();
}

std::vector<std::string> Folders(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsFolder(entry->path())) names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Machine ThisMachine() {
  return {.variable = Variable,
          .read_file = ReadFile,
          .folders = Folders,
          .is_folder = IsFolder,
          .real_path = RealPath,
          .run = [](const std::vector<std::string>& command) {
            return RunCommand(command, kCommandLimit);
          }};
}

}  // namespace meshwright::launcher
