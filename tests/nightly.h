// IsNightly() decides how many cases a test runs.
#pragma once

#include <cstdlib>

namespace meshwright {

// Returns whether this is a test with the label nightly, which runs all cases. Other tests run some
// of the cases, so that the tests of a change take minutes.
inline bool IsNightly() { return std::getenv("MESHWRIGHT_NIGHTLY") != nullptr; }

}  // namespace meshwright
