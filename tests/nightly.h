// How often tests repeat what they show.
#pragma once

#include <cstdlib>

namespace meshwright {

// Whether this is a test of the label nightly, which repeats all that there is to repeat; others
// take a part of it, so that the tests of a change take minutes.
inline bool IsNightly() { return std::getenv("MESHWRIGHT_NIGHTLY") != nullptr; }

}  // namespace meshwright
