#include "executor/host/cores.h"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::host {
namespace {

// Reads one of the kernel's topology files of a hardware thread; empty if it has none.
std::string Topology(int hardware_thread, const std::string& file) {
  std::ifstream in("/sys/devices/system/cpu/cpu" + std::to_string(hardware_thread) + "/topology/" +
                   file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

std::vector<Core> Cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return {{0}};
  // By package, then by the core's first hardware thread.
  std::map<std::pair<std::string, int>, Core> cores;
  std::map<std::string, int> first_of;
  for (int thread = 0; thread < CPU_SETSIZE; ++thread) {
    if (!CPU_ISSET(thread, &mask)) continue;
    const std::string siblings = Topology(thread, "thread_siblings_list");
    // Without topology files each hardware thread counts as a core.
    const int first =
        siblings.empty() ? thread : first_of.try_emplace(siblings, thread).first->second;
    cores[{Topology(thread, "physical_package_id"), first}].push_back(thread);
  }
  std::vector<Core> in_order;
  in_order.reserve(cores.size());
  for (auto& [place, core] : cores) in_order.push_back(std::move(core));
  return in_order.empty() ? std::vector<Core>{{0}} : in_order;
}

std::vector<int> HardwareThreadsOf(const std::vector<Core>& cores, int32_t first, int32_t count,
                                   int32_t parts) {
  const size_t per_part = cores.size() / static_cast<size_t>(parts);
  const size_t begin = static_cast<size_t>(first) * per_part;
  std::vector<int> threads;
  for (size_t core = begin; core < begin + static_cast<size_t>(count) * per_part; ++core) {
    threads.insert(threads.end(), cores[core].begin(), cores[core].end());
  }
  return threads;
}

absl::Status BindThisThread(const std::vector<int>& hardware_threads) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int thread : hardware_threads) CPU_SET(thread, &mask);
  if (sched_setaffinity(0, sizeof(mask), &mask) == 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the thread can't be bound to its cores: ", std::strerror(errno)));
}

}  // namespace meshwright::host
