#include "executor/command/run_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::command {

absl::StatusOr<RunFolder> RunFolder::Make(const std::string& around) {
  std::string path = absl::StrCat(around, "/meshwright-run-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("no folder can be made in ", around, ": ", std::strerror(errno)));
  }
  return RunFolder(std::move(path));
}

RunFolder::RunFolder(std::string path) : path_(std::move(path)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}

RunFolder::~RunFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

absl::Status RunFolder::Write(const std::vector<planner::ExportedFile>& files) const {
  for (const planner::ExportedFile& file : files) {
    if (file.name.empty() || file.name.find('/') != std::string::npos || file.name[0] == '.') {
      return absl::InternalError(
          absl::StrCat("the file ", file.name, " is not in the run's folder"));
    }
    const std::string path = absl::StrCat(path_, "/", file.name);
    std::ofstream out(path, std::ios::binary);
    out << file.text;
    out.close();
    if (!out) return absl::UnavailableError(absl::StrCat(path, " can't be written"));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::command
