// These functions count this process's file descriptors: how many are open, and how many may be
// open.
#pragma once

#include <cstdint>

namespace meshwright {

// Returns how many descriptors are open, as /proc/self/fd lists them; 0 if that can't be read.
int32_t OpenDescriptors();
// Returns how many descriptors the process may have open: its soft limit (RLIMIT_NOFILE).
int64_t DescriptorLimit();
// Raises the soft limit to the hard one, if the system allows it.
void RaiseDescriptorLimit();

}  // namespace meshwright
