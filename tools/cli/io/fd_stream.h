// FdStream is an output stream over a descriptor. It remembers why a write failed, so that a
// command can report lost output and fail.
#pragma once

#include <array>
#include <ostream>
#include <streambuf>

namespace meshwright::cli {

class FdStream final : public std::ostream {
 public:
  // Writes to `fd`, which stays open.
  explicit FdStream(int fd) : std::ostream(&buffer_), buffer_(fd) {}

  // Returns errno of the first write that failed; 0 if none failed so far.
  int write_errno() const { return buffer_.write_errno(); }

 private:
  class Buffer final : public std::streambuf {
   public:
    explicit Buffer(int fd) : fd_(fd) { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
    ~Buffer() override { sync(); }
    int write_errno() const { return write_errno_; }

   protected:
    int_type overflow(int_type byte) override;
    int sync() override;

   private:
    const int fd_;
    int write_errno_ = 0;
    std::array<char, 1 << 14> bytes_ = {};
  };

  Buffer buffer_;
};

// Opens each of standard input, output and error that the process was started without. Otherwise a
// file that is opened later would take the missing descriptor and get the output. Writing to a
// standard output that this function opened fails.
void OpenStandardDescriptors();

}  // namespace meshwright::cli
