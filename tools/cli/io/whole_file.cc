#include "tools/cli/io/whole_file.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::cli {
namespace {

namespace fs = std::filesystem;

// The kernel's limit.
constexpr int kMaxLinks = 40;

// Returns an empty text on success, otherwise what went wrong.
std::string WriteStraight(const std::string& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? "" : std::string("cannot be written: ") + std::strerror(errno);
}

// A path that exists and is not a regular file with a name can't be replaced by a regular file.
bool IsWrittenInPlace(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return false;
  return !fs::is_regular_file(status) || !fs::exists(WrittenFile(path), error);
}

std::string TemporaryOf(const std::string& path) {
  return WrittenFile(path) + "." + std::to_string(getpid()) + ".tmp";
}

}  // namespace

std::string WrittenFile(const std::string& path) {
  fs::path file = path;
  std::error_code error;
  for (int i = 0; i < kMaxLinks && fs::is_symlink(fs::symlink_status(file, error)); ++i) {
    const fs::path target = fs::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / target;  // an absolute target replaces the folder
  }
  return file.string();
}

absl::StatusOr<std::string> ReadWholeFile(std::string_view flag, const std::string& path,
                                          uintmax_t max_bytes) {
  std::error_code error;
  if (fs::is_directory(path, error)) return FieldError(flag, path, "is a folder, not a file");
  const uintmax_t size = fs::file_size(path, error);
  // Pipes have no size; they are read to their end.
  if (!error && size > max_bytes) {
    return FieldError(flag, path,
                      absl::StrCat("has ", size, " bytes; must be at most ", max_bytes));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.bad()) {
    return FieldError(flag, path, std::string("cannot be read: ") + std::strerror(errno));
  }
  return text.str();
}

absl::StatusOr<std::string> ReadWholeDescriptor(std::string_view flag, int descriptor,
                                                uintmax_t max_bytes) {
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() <= max_bytes) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return FieldError(flag, "-", std::string("cannot be read: ") + std::strerror(errno));
    }
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  return FieldError(flag, "-", absl::StrCat("has more than ", max_bytes, " bytes"));
}

absl::Status WriteWholeFile(std::string_view flag, const std::string& path, std::string_view text) {
  std::error_code error;
  const bool in_place = IsWrittenInPlace(path);
  const std::string target = in_place ? path : TemporaryOf(path);
  std::string problem = WriteStraight(target, text);
  if (problem.empty() && !in_place) {
    fs::rename(target, WrittenFile(path), error);
    if (error) problem = "cannot be written: " + error.message();
  }
  if (problem.empty()) return absl::OkStatus();
  if (!in_place) fs::remove(target, error);
  return WithField(absl::UnavailableError(FieldError(flag, path, problem).message()), flag);
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

}  // namespace meshwright::cli
