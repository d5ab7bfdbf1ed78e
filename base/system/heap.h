// ResidentBytes() reports this process's resident memory, and ReturnFreePages() reduces it.
#pragma once

#include <cstdint>

namespace meshwright {

// Returns the bytes that are resident, or 0 if the system does not say.
int64_t ResidentBytes();

// Returns the heap's free pages to the system if at least `least_bytes` more bytes are resident
// than allocated. By itself, the heap returns only free pages at its top. After many simultaneous
// short allocations, the other free pages would stay resident for good.
void ReturnFreePages(int64_t least_bytes);

}  // namespace meshwright
