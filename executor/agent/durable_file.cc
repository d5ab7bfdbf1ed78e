#include "executor/agent/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace meshwright::agent {
namespace {

absl::Status Failed(const std::string& path) {
  return absl::UnavailableError(absl::StrCat("can't write ", path, ": ", std::strerror(errno)));
}

// A new file's name is durable only once its folder is synced.
absl::Status SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Failed(folder);
  const bool synced = fsync(fd) == 0;
  close(fd);
  return synced ? absl::OkStatus() : Failed(folder);
}

// A nearly full disk first accepts a part of the text, and fails on the next call.
bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

absl::Status WriteDurably(const std::string& path, const std::string& text) {
  const std::string temporary = absl::StrCat(path, ".", getpid(), kTemporaryExtension);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return Failed(temporary);
  absl::Cleanup remove = [&] { unlink(temporary.c_str()); };
  absl::Status written =
      WriteAll(fd, text) && fsync(fd) == 0 ? absl::OkStatus() : Failed(temporary);
  const bool closed = close(fd) == 0;
  if (!written.ok()) return written;
  if (!closed) return Failed(temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) return Failed(path);
  std::move(remove).Cancel();
  return SyncFolder(std::filesystem::path(path).parent_path());
}

}  // namespace meshwright::agent
