// Compares gradients that trials wrote to disk (executor/worker/run/gradient_dump.h) with the
// reference.
#pragma once

#include <filesystem>

#include "planner/layout/layout.h"
#include "tests/executor/worker/reference_run.h"

namespace meshwright::trial {

// A folder that is deleted with its owner.
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

// Assembles the ranks' parts of the first step and expects every gradient of the reference, once or
// in equal copies: the norm of the difference over the norm is below `tolerance`. Returns the
// largest ratio.
double ExpectSameGradients(const worker::ReferenceRun& reference,
                           const std::filesystem::path& folder, const planner::Layout& layout,
                           double tolerance);

}  // namespace meshwright::trial
