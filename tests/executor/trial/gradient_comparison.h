// Gradients that trials wrote to disk (executor/worker/gradient_dump.h) against the reference.
#pragma once

#include <filesystem>

#include "planner/layout/layout.h"
#include "tests/executor/worker/reference_model.h"

namespace meshwright::trial {

// A folder that goes with its owner.
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

// Puts the ranks' parts together and expects every gradient of the reference, once or in equal
// copies: norm of the difference over the norm below `tolerance`. Returns the largest of these.
double ExpectSameGradients(const worker::ReferenceModel& reference,
                           const std::filesystem::path& folder, const planner::Layout& layout,
                           double tolerance);

}  // namespace meshwright::trial
