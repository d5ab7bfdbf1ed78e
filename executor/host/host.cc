#include "executor/host/host.h"

#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "executor/host/host_memory.h"

namespace meshwright::host {
namespace {

// The first hardware thread of the core that `processor` belongs to names the core; where the
// kernel does not tell, each processor is a core.
std::string CoreOf(int processor) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                     "/topology/thread_siblings_list");
  std::string siblings;
  if (!std::getline(file, siblings) || siblings.empty()) return std::to_string(processor);
  return siblings;
}

}  // namespace

int32_t PhysicalCores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return 1;
  std::set<std::string> cores;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &mask)) cores.insert(CoreOf(processor));
  }
  return std::max(1, static_cast<int32_t>(cores.size()));
}

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return "unknown";
  return name;
}

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t value = line.find(": ");
    if (line.starts_with("model name") && value != std::string::npos) return line.substr(value + 2);
  }
  return "CPU";
}

int64_t MemoryBytes() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const CgroupMemoryLimit& limit : CgroupMemoryLimits()) {
    bytes = std::min(bytes, limit.limit_bytes);
  }
  return std::max<int64_t>(1, bytes);
}

}  // namespace meshwright::host
