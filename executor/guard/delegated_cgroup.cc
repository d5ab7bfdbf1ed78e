#include "executor/guard/delegated_cgroup.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/status_macros.h"
#include "executor/guard/cgroup.h"

namespace meshwright::guard {
namespace {

constexpr std::chrono::milliseconds kLongestRemoval(5000);
constexpr char kRunPrefix[] = "run-";

absl::Status Unusable(const std::string& path, std::string_view what, int error) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the cgroup ", path, " can't be used: ", std::string(what), ": ", std::strerror(error)));
}

std::vector<std::string> LinesOf(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Returns the path of this process's group as the kernel names it; nullopt if it has none.
std::optional<std::string> OwnGroup(const std::string& file) {
  for (const std::string& line : LinesOf(file)) {
    if (absl::StartsWith(line, "0::/")) return line.substr(3);
  }
  return std::nullopt;
}

// Returns the folder of the group below one line of mountinfo; nullopt if it is not there.
std::optional<std::string> FolderBelow(const std::string& mount, const std::string& group) {
  constexpr size_t kRootField = 3;
  constexpr size_t kPointField = 4;
  const std::vector<std::string> halves = absl::StrSplit(mount, absl::MaxSplits(" - ", 1));
  if (halves.size() != 2 || !absl::StartsWith(halves[1], "cgroup2 ")) return std::nullopt;
  const std::vector<std::string> fields = absl::StrSplit(halves[0], ' ');
  if (fields.size() <= kPointField) return std::nullopt;
  const std::string root = fields[kRootField] == "/" ? "" : fields[kRootField];
  const std::string inside = group == "/" ? "" : group;
  if (inside != root && !absl::StartsWith(inside, root + "/")) return std::nullopt;
  return fields[kPointField] + inside.substr(root.size());
}

absl::StatusOr<std::string> OwnFolder(const CgroupSources& sources) {
  const std::optional<std::string> group = OwnGroup(sources.own_groups);
  // A group outside this process's namespace begins with /.. and is mounted nowhere.
  if (!group || absl::StartsWith(*group, "/..")) {
    return absl::FailedPreconditionError(
        absl::StrCat("this process is in no cgroup v2 (", sources.own_groups, ")"));
  }
  for (const std::string& mount : LinesOf(sources.mounts)) {
    if (std::optional<std::string> folder = FolderBelow(mount, *group)) return *std::move(folder);
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the cgroup ", *group, " of this process is mounted nowhere"));
}

bool IsMarkedAsDelegated(const std::string& folder) {
  for (const char* const attribute : {"user.delegate", "trusted.delegate"}) {
    char value = 0;
    if (::getxattr(folder.c_str(), attribute, &value, 1) == 1 && value == '1') return true;
  }
  return false;
}

absl::Status CheckDelegated(const std::string& folder) {
  if (!IsMarkedAsDelegated(folder)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the cgroup ", folder, " was not delegated to this process (systemd's Delegate=yes)"));
  }
  for (const std::string& path : {folder, folder + "/cgroup.procs"}) {
    if (::access(path.c_str(), W_OK) != 0) return Unusable(folder, path, errno);
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> Lock(const std::string& folder) {
  UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.is_open() || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Unusable(folder, errno == EWOULDBLOCK ? "another agent uses it" : "lock", errno);
  }
  return lock;
}

absl::Status MoveThisProcess(const std::string& folder) {
  const std::string own = folder + "/agent";
  if (::mkdir(own.c_str(), 0755) != 0 && errno != EEXIST) return Unusable(folder, own, errno);
  // Before Linux 5.14 there is none, and nothing else ends a group as a whole.
  if (const std::string file = own + "/cgroup.kill"; ::access(file.c_str(), W_OK) != 0) {
    return Unusable(folder, file, errno);
  }
  if (const int error = EnterCgroup(own); error != 0) return Unusable(folder, own, error);
  return absl::OkStatus();
}

absl::Status RemoveRuns(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path();
    if (!absl::StartsWith(entry.path().filename().string(), kRunPrefix)) continue;
    if (!RemoveCgroup(path, kLongestRemoval)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the cgroup ", path, " of an earlier run can't be ended"));
    }
  }
  return error ? Unusable(folder, "its groups", error.value()) : absl::OkStatus();
}

// Lets groups below `folder` bound memory. Returns whether they can.
absl::StatusOr<bool> EnableMemory(const std::string& folder) {
  std::ifstream in(folder + "/cgroup.controllers");
  bool is_there = false;
  for (std::string controller; in >> controller;) is_there |= controller == "memory";
  if (!is_there) return false;
  const std::string file = folder + "/cgroup.subtree_control";
  if (const int error = WriteControl(file, "+memory"); error != 0) {
    return Unusable(folder, file, error);
  }
  return true;
}

}  // namespace

RunGroup::~RunGroup() {
  if (!path_.empty()) RemoveCgroup(path_, kLongestRemoval);
}

absl::StatusOr<DelegatedCgroup> DelegatedCgroup::Take(const CgroupSources& sources) {
  ASSIGN_OR_RETURN(std::string folder, OwnFolder(sources));
  RETURN_IF_ERROR(CheckDelegated(folder));
  ASSIGN_OR_RETURN(UniqueFd lock, Lock(folder));
  RETURN_IF_ERROR(MoveThisProcess(folder));
  RETURN_IF_ERROR(RemoveRuns(folder));
  ASSIGN_OR_RETURN(const bool limits_memory, EnableMemory(folder));
  return DelegatedCgroup(std::move(folder), std::move(lock), limits_memory);
}

absl::StatusOr<RunGroup> DelegatedCgroup::MakeRun(int64_t memory_limit_bytes) const {
  std::string path = absl::StrCat(path_, "/", kRunPrefix, "XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("no cgroup can be made in ", path_, ": ", std::strerror(errno)));
  }
  const bool is_limited = limits_memory_ && memory_limit_bytes > 0;
  RunGroup run(std::move(path), is_limited);
  if (is_limited) RETURN_IF_ERROR(LimitMemory(run.path(), memory_limit_bytes));
  return run;
}

}  // namespace meshwright::guard
