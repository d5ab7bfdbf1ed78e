#include "executor/agent/state_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/status_macros.h"
#include "executor/agent/durable_file.h"

namespace meshwright::agent {
namespace {

constexpr size_t kIdentityDigits = 32;

absl::Status Failed(absl::string_view what, const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("can't ", what, " ", path, ": ", std::strerror(errno)));
}

bool IsIdentity(const std::string& text) {
  return text.size() == kIdentityDigits &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

// Returns what the lock's holder wrote about itself; it may not have written yet.
std::string HolderOf(int lock) {
  std::array<char, 200> text{};
  const ssize_t length = ::pread(lock, text.data(), text.size(), 0);
  std::string holder(text.data(), static_cast<size_t>(std::max<ssize_t>(length, 0)));
  holder.resize(std::min(holder.find('\n'), holder.size()));
  return holder.empty() ? "another agent" : holder;
}

absl::StatusOr<UniqueFd> Take(const std::string& folder, const std::string& agent) {
  const std::string path = folder + "/lock";
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.is_open()) return Failed("open", path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Failed("lock", path);
    return absl::FailedPreconditionError(
        absl::StrCat("the state folder ", folder, " is in use by ", HolderOf(lock.get()),
                     ": give each agent another --name or --state-dir"));
  }
  // Only informs those who are refused: the lock itself is the kernel's and ends with the process.
  const std::string holder = absl::StrCat("agent ", agent, " (process ", ::getpid(), ")\n");
  if (::ftruncate(lock.get(), 0) != 0 || ::pwrite(lock.get(), holder.data(), holder.size(), 0) !=
                                             static_cast<ssize_t>(holder.size())) {
    return Failed("write", path);
  }
  return lock;
}

}  // namespace

absl::StatusOr<StateDir> StateDir::Open(const std::string& folder, const std::string& agent,
                                        const std::function<uint64_t()>& random) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("can't create the state folder ", folder, ": ", error.message()));
  }
  if (is_new) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  ASSIGN_OR_RETURN(UniqueFd lock, Take(folder, agent));
  StateDir state(folder, std::move(lock));
  RETURN_IF_ERROR(state.ReadOrMakeIdentity(random));
  return state;
}

absl::StatusOr<std::string> StateDir::EmptyRuns() const {
  const std::string path = folder_ + "/runs";
  std::error_code error;
  std::filesystem::remove_all(path, error);
  std::filesystem::create_directories(path, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat("can't create ", path, ": ", error.message()));
  }
  return path;
}

absl::Status StateDir::ReadOrMakeIdentity(const std::function<uint64_t()>& random) {
  const std::string path = folder_ + "/identity";
  std::ifstream(path) >> identity_;
  if (IsIdentity(identity_)) return absl::OkStatus();
  const uint64_t high = random();
  identity_ = absl::StrFormat("%016x%016x", high, random());
  // Whoever reads the identity could take the agent's name.
  return WriteDurably(path, identity_ + "\n");
}

}  // namespace meshwright::agent
