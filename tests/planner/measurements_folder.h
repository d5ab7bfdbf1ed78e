// MeasurementsFolder() returns the folder of the published measurements: $MESHWRIGHT_MEASUREMENTS,
// or ../shared/data/measured beside the checkout. The measurements are not part of the repository.
// Tests that read them are skipped if the folder is absent.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace meshwright::planner {

inline std::filesystem::path MeasurementsFolder() {
  if (const char* folder = std::getenv("MESHWRIGHT_MEASUREMENTS")) return folder;
  const char* source = std::getenv("MESHWRIGHT_SOURCE_DIR");
  return std::filesystem::path(source == nullptr ? "." : source) / "../shared/data/measured";
}

}  // namespace meshwright::planner
