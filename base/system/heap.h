// The memory that this process's heap keeps though nothing is allocated in it.
#pragma once

#include <cstdint>

namespace meshwright {

// Gives the heap's free pages back to the system if the process has at least `least_bytes` more
// resident than allocated. The heap gives them back by itself only at its top, so that after many
// short allocations at once they would stay resident for good.
void ReturnFreePages(int64_t least_bytes);

}  // namespace meshwright
