#include "executor/guard/cgroup.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/system/unique_fd.h"

namespace meshwright::guard {
namespace {

constexpr auto kRemovalPause = std::chrono::milliseconds(5);

absl::Status CantLimit(const std::string& file, int error) {
  return absl::UnavailableError(absl::StrCat("can't write ", file, ": ", std::strerror(error)));
}

// Returns the number of an event that the kernel counted in the group and in groups below it.
int64_t MemoryEvent(const std::string& group, const std::string& name) {
  std::ifstream events(group + "/memory.events");
  std::string key;
  int64_t count = 0;
  while (events >> key >> count) {
    if (key == name) return count;
  }
  return 0;
}

// Removes the group with the groups below it. Returns 0 or errno, which is EBUSY while processes
// are in one of them.
int RemoveTree(const std::string& group) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(group, ignored)) {
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) RemoveTree(entry.path());
  }
  return ::rmdir(group.c_str()) == 0 ? 0 : errno;
}

}  // namespace

int WriteControl(const std::string& file, std::string_view text) {
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.is_open()) return errno;
  return ::write(fd.get(), text.data(), text.size()) < 0 ? errno : 0;
}

int EnterCgroup(const std::string& group) {
  // 0 stands for the process that writes.
  return WriteControl(group + "/cgroup.procs", "0");
}

absl::Status LimitMemory(const std::string& group, int64_t bytes) {
  const std::string limit = group + "/memory.max";
  if (const int error = WriteControl(limit, absl::StrCat(bytes)); error != 0) {
    return CantLimit(limit, error);
  }
  // Kernels without swap lack the first file.
  for (const auto& [name, text] : {std::pair("memory.swap.max", "0"), {"memory.oom.group", "1"}}) {
    const std::string file = absl::StrCat(group, "/", name);
    const int error = WriteControl(file, text);
    if (error != 0 && error != ENOENT) return CantLimit(file, error);
  }
  return absl::OkStatus();
}

std::string MemoryLimitKills(const std::string& group) {
  // `oom` is counted where a limit was reached, `oom_kill` for whatever reason was killed.
  const int64_t kills = MemoryEvent(group, "oom_kill");
  if (kills == 0 || MemoryEvent(group, "oom") == 0) return "";
  std::string limit = "?";
  std::ifstream(group + "/memory.max") >> limit;
  return absl::StrCat("meshwright guard: out of memory: the kernel killed ", kills,
                      " of the command's processes, which together reached the limit of ", limit,
                      " bytes (memory.max)");
}

void KillCgroup(const std::string& group) { WriteControl(group + "/cgroup.kill", "1"); }

bool RemoveCgroup(const std::string& group, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (true) {
    KillCgroup(group);
    const int error = RemoveTree(group);
    if (error == 0 || error == ENOENT) return true;
    if (error != EBUSY || std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(kRemovalPause);
  }
}

}  // namespace meshwright::guard
