#include "tools/cli/io/fd_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace meshwright::cli {

FdStream::Buffer::int_type FdStream::Buffer::overflow(int_type byte) {
  if (sync() != 0) return traits_type::eof();
  if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
  return sputc(traits_type::to_char_type(byte));
}

int FdStream::Buffer::sync() {
  const char* next = pbase();
  while (write_errno_ == 0 && next < pptr()) {
    const ssize_t written = ::write(fd_, next, static_cast<size_t>(pptr() - next));
    if (written >= 0) {
      next += written;
    } else if (errno != EINTR) {
      write_errno_ = errno;
    }
  }
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  return write_errno_ == 0 ? 0 : -1;
}

void OpenStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free descriptor is this one. Standard output is opened for reading, so that
    // printing fails as it does on a closed one.
    const int flags = fd == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", flags) == -1) return;
  }
}

}  // namespace meshwright::cli
