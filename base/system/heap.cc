#include "base/system/heap.h"

#include <malloc.h>
#include <unistd.h>

#include <fstream>

namespace meshwright {
int64_t ResidentBytes() {
  int64_t all_pages = 0;
  int64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> all_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

void ReturnFreePages(int64_t least_bytes) {
  const struct mallinfo2 heap = mallinfo2();
  const auto allocated = static_cast<int64_t>(heap.uordblks + heap.hblkhd);
  if (ResidentBytes() >= allocated + least_bytes) malloc_trim(0);
}

}  // namespace meshwright
