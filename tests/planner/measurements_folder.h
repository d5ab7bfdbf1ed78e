// Locates the published measurements: $MESHWRIGHT_MEASUREMENTS, else ../shared/data/measured beside
// the checkout. They are not part of the repository, so tests that read them skip where the folder
// is absent.
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
