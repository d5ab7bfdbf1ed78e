#include "base/system/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace meshwright {
namespace {

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

absl::Status SpawnError(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<pid_t> Spawn(SpawnRequest request) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  const absl::Cleanup destroy = [&] {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  };
  int first_unused = 0;
  for (const auto& [source, target] : request.descriptors) {
    ::posix_spawn_file_actions_adddup2(&actions, source, target);
    first_unused = std::max(first_unused, target + 1);
  }
  ::posix_spawn_file_actions_addclosefrom_np(&actions, first_unused);
  if (!request.folder.empty()) {
    ::posix_spawn_file_actions_addchdir_np(&actions, request.folder.c_str());
  }
  sigset_t all_signals;
  sigset_t no_signals;
  ::sigfillset(&all_signals);
  ::sigemptyset(&no_signals);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setsigdefault(&attributes, &all_signals);
  ::posix_spawnattr_setsigmask(&attributes, &no_signals);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, request.path.c_str(), &actions, &attributes,
                    PointersTo(request.arguments).data(), PointersTo(request.environment).data());
  if (error != 0) return SpawnError(absl::StrCat(request.path, " can't be started"), error);
  return pid;
}

absl::StatusOr<SpawnPipe> MakeSpawnPipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return SpawnError("pipe", errno);
  const UniqueFd read(ends[0]);
  const UniqueFd write(ends[1]);
  SpawnPipe pipe{.read = UniqueFd(::fcntl(read.get(), F_DUPFD_CLOEXEC, kFirstSpawnSource)),
                 .write = UniqueFd(::fcntl(write.get(), F_DUPFD_CLOEXEC, kFirstSpawnSource))};
  if (!pipe.read.is_open() || !pipe.write.is_open()) return SpawnError("fcntl", errno);
  return pipe;
}

void ReadAvailable(UniqueFd& fd, size_t most_bytes, std::string& out) {
  std::array<char, 16384> buffer;
  while (fd.is_open() && out.size() < most_bytes) {
    const ssize_t size = ::read(fd.get(), buffer.data(), buffer.size());
    if (size > 0) {
      out.append(buffer.data(), static_cast<size_t>(size));
    } else if (size == 0) {
      fd.Close();
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace meshwright
