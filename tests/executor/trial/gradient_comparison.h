// ExpectSameGradients() compares gradients that trials wrote to disk
// (executor/worker/run/gradient_dump.h) with the reference.
#pragma once

#include <filesystem>

#include "planner/layout/layout.h"
#include "tests/executor/worker/reference_run.h"

namespace meshwright::trial {

// A folder that the destructor deletes.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Assembles the ranks' parts of the first step's gradients. Expects every gradient of the
// reference, once or in equal copies, with a relative error (norm of the difference divided by the
// norm) below `tolerance`. Returns the largest relative error.
double ExpectSameGradients(const worker::ReferenceRun& reference,
                           const std::filesystem::path& folder, const planner::Layout& layout,
                           double tolerance);

}  // namespace meshwright::trial
