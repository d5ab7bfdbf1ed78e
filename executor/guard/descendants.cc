#include "executor/guard/descendants.h"

// glibc 2.36 declares the functions of pidfd.h without C linkage.
extern "C" {
#include <sys/pidfd.h>
}

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/system/unique_fd.h"

namespace meshwright::guard {
namespace {

constexpr auto kPause = std::chrono::milliseconds(5);

struct ProcessStat {
  pid_t parent = 0;
  uint64_t start_time = 0;
};

// Returns nullopt if there is no such process.
std::optional<ProcessStat> StatOf(pid_t pid) {
  const UniqueFd file(::open(absl::StrCat("/proc/", pid, "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  std::array<char, 1024> buffer;
  const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
  if (size <= 0) return std::nullopt;
  const std::string_view text(buffer.data(), static_cast<size_t>(size));
  // The name, in parentheses, may contain blanks and parentheses. See proc(5) for the fields.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return std::nullopt;
  const std::string after_name(text.substr(name_end + 2));
  const std::vector<std::string> fields = absl::StrSplit(after_name, ' ');
  constexpr size_t kParentField = 1;
  constexpr size_t kStartField = 19;
  ProcessStat stat;
  if (fields.size() <= kStartField || !absl::SimpleAtoi(fields[kParentField], &stat.parent) ||
      !absl::SimpleAtoi(fields[kStartField], &stat.start_time)) {
    return std::nullopt;
  }
  return stat;
}

std::multimap<pid_t, ProcessId> AllByParent() {
  std::multimap<pid_t, ProcessId> by_parent;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  if (folder == nullptr) return by_parent;
  while (const dirent* entry = ::readdir(folder.get())) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry->d_name, &pid)) continue;
    const std::optional<ProcessStat> stat = StatOf(pid);
    if (stat) by_parent.emplace(stat->parent, ProcessId{pid, stat->start_time});
  }
  return by_parent;
}

// Kills the process unless its pid belongs to another one by now.
void Kill(const ProcessId& process) {
  const UniqueFd handle(::pidfd_open(process.pid, 0));
  if (!handle.is_open()) return;
  const std::optional<ProcessStat> stat = StatOf(process.pid);
  if (stat && stat->start_time == process.start_time) {
    ::pidfd_send_signal(handle.get(), SIGKILL, nullptr, 0);
  }
}

// Reaps the children that have ended. Returns whether there are other children.
bool ReapAll() {
  while (true) {
    const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
    if (reaped > 0 || (reaped < 0 && errno == EINTR)) continue;
    return reaped == 0;
  }
}

}  // namespace

std::vector<ProcessId> DescendantsOf(pid_t root) {
  const std::multimap<pid_t, ProcessId> by_parent = AllByParent();
  std::vector<ProcessId> found;
  const auto add_children_of = [&](pid_t parent) {
    const auto [begin, end] = by_parent.equal_range(parent);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  };
  add_children_of(root);
  for (size_t next = 0; next < found.size(); ++next) add_children_of(found[next].pid);
  return found;
}

bool BecomeSubreaper() { return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void EndDescendants(std::chrono::milliseconds patience,
                    const std::function<void(pid_t)>& still_there) {
  const auto until = std::chrono::steady_clock::now() + patience;
  bool told = false;
  // Processes may be started while others are killed, so one pass is not enough.
  while (ReapAll()) {
    const std::vector<ProcessId> left = DescendantsOf(::getpid());
    for (const ProcessId& process : left) Kill(process);
    if (!told && !left.empty() && std::chrono::steady_clock::now() > until) {
      told = true;
      if (still_there) still_there(left.front().pid);
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace meshwright::guard
