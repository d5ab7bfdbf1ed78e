#include "executor/host/host.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "executor/host/cores.h"
#include "executor/host/host_memory.h"

namespace meshwright::host {
int32_t PhysicalCores() { return static_cast<int32_t>(Cores().size()); }

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

std::string NvidiaDriverVersion(const std::string& root) {
  std::ifstream file(root + "proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const bool is_version = word.find_first_not_of("0123456789.") == std::string::npos &&
                            word.find('.') != std::string::npos;
    if (is_version) return word;
  }
  return "";
}

int64_t MemoryBytes() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const CgroupMemoryLimit& limit : CgroupMemoryLimits()) {
    bytes = std::min(bytes, limit.limit_bytes);
  }
  return std::max<int64_t>(1, bytes);
}

}  // namespace meshwright::host
