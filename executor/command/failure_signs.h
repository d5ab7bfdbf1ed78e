// FailureSigns searches the lines of a command's log for the reason why the command failed: memory
// that ran out, a port that was in use, or else the last error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meshwright::command {

class FailureSigns {
 public:
  void Add(std::string_view line);

  // The first line that says that memory ran out; empty if none does.
  const std::string& out_of_memory() const { return out_of_memory_; }
  // Size of the allocation that failed, bytes; 0 if out_of_memory() does not say it.
  int64_t requested_bytes() const { return requested_bytes_; }
  // The rank that out_of_memory() names, in the form [rank3] of torchrun and torchtitan; nullopt if
  // it names none.
  std::optional<int32_t> out_of_memory_rank() const { return rank_; }
  // The first line that says that an address or a port is in use; empty if none does.
  const std::string& port_in_use() const { return port_in_use_; }
  // The first line that says that SIGKILL ended a rank; empty if none does.
  const std::string& killed() const { return killed_; }
  // The last line that looks like an error; empty if none does.
  const std::string& last_error() const { return last_error_; }
  // Whether last_error() is a connection to another rank that was lost or refused. A failure of the
  // other rank may be the cause.
  bool is_lost_connection() const { return is_lost_connection_; }

 private:
  std::string out_of_memory_;
  int64_t requested_bytes_ = 0;
  std::optional<int32_t> rank_;
  std::string port_in_use_;
  std::string killed_;
  std::string last_error_;
  bool is_lost_connection_ = false;
};

}  // namespace meshwright::command
