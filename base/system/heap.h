// The memory that this process has, and what its heap keeps of it though nothing is allocated
// there.
#pragma once

#include <cstdint>

namespace meshwright {

// Returns the bytes that are resident, or 0 if the system does not say.
int64_t ResidentBytes();

// Gives the heap's free pages back to the system if the process has at least `least_bytes` more
// resident than allocated. The heap gives them back by itself only at its top, so that after many
// short allocations at once they would stay resident for good.
void ReturnFreePages(int64_t least_bytes);

}  // namespace meshwright
