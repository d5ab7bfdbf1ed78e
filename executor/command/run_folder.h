// RunFolder is a folder that only this user can enter, for one run of a command. It is removed with
// everything in it when it goes out of scope.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "planner/interchange/exported_job.h"

namespace meshwright::command {

class RunFolder {
 public:
  // Makes a folder inside the folder `around`. Returns Unavailable if that fails.
  static absl::StatusOr<RunFolder> Make(const std::string& around);

  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();

  const std::string& path() const { return path_; }
  // Writes the files. Returns Unavailable if that fails, and Internal if a file's name contains a
  // folder.
  absl::Status Write(const std::vector<planner::ExportedFile>& files) const;

 private:
  explicit RunFolder(std::string path);

  std::string path_;
};

}  // namespace meshwright::command
