#include "tools/cli/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxFileBytes = uintmax_t{256} << 20;

// Empty on success, else what went wrong.
std::string WriteStraight(const std::string& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? "" : std::string("cannot be written: ") + std::strerror(errno);
}

// What there is and isn't a regular file can't be replaced by one.
bool IsWrittenInPlace(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status);
}

std::string TemporaryOf(const std::string& path) {
  return path + "." + std::to_string(getpid()) + ".tmp";
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(std::string_view flag, const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return FieldError(flag, path, "is a folder, not a file");
  const uintmax_t size = fs::file_size(path, error);
  // Pipes have no size; they are read to their end.
  if (!error && size > kMaxFileBytes) return FieldError(flag, path, "is larger than 256 MiB");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.bad()) {
    return FieldError(flag, path, std::string("cannot be read: ") + std::strerror(errno));
  }
  return text.str();
}

absl::Status WriteWholeFile(std::string_view flag, const std::string& path, std::string_view text) {
  std::error_code error;
  const bool in_place = IsWrittenInPlace(path);
  const std::string target = in_place ? path : TemporaryOf(path);
  std::string problem = WriteStraight(target, text);
  if (problem.empty() && !in_place) {
    fs::rename(target, path, error);
    if (error) problem = "cannot be written: " + error.message();
  }
  if (problem.empty()) return absl::OkStatus();
  if (!in_place) fs::remove(target, error);
  return FieldError(flag, path, problem);
}

absl::Status CheckWritable(std::string_view flag, const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return FieldError(flag, path, "is a folder, not a file");
  if (IsWrittenInPlace(path)) {
    if (::access(path.c_str(), W_OK) == 0) return absl::OkStatus();
    return FieldError(flag, path, std::string("cannot be written: ") + std::strerror(errno));
  }
  const std::string target = TemporaryOf(path);
  const std::string problem = WriteStraight(target, "");
  if (!problem.empty()) return FieldError(flag, path, problem);
  fs::remove(target, error);
  return absl::OkStatus();
}

}  // namespace meshwright
