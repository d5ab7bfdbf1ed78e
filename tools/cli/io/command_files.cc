#include "tools/cli/io/command_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::cli {
namespace {

bool IsNullDevice(const struct stat& status) {
  struct stat null = {};
  return S_ISCHR(status.st_mode) && ::stat("/dev/null", &null) == 0 &&
         status.st_rdev == null.st_rdev;
}

}  // namespace

absl::Status OutputFile::Write(std::string_view text) const {
  if (kept_ == nullptr) return wanted() ? WriteWholeFile(flag_, path_, text) : absl::OkStatus();
  *kept_ = text;
  return absl::OkStatus();
}

void CommandFiles::Supply(const std::string& flag, SuppliedText supplied) {
  supplied_[flag] = std::move(supplied);
}

void CommandFiles::Keep(const std::string& flag) { kept_[flag] = std::make_shared<std::string>(); }

std::map<std::string, std::string> CommandFiles::KeptTexts() const {
  std::map<std::string, std::string> texts;
  for (const auto& [flag, text] : kept_) {
    if (!text->empty()) texts[flag] = *text;
  }
  return texts;
}

std::string CommandFiles::InputName(std::string_view flag) const {
  const auto supplied = supplied_.find(flag);
  return supplied == supplied_.end() ? "stdin" : supplied->second.name;
}

void CommandFiles::AddStream(std::string_view name, int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  entries_.push_back({Use::kPrintedTo,
                      std::string(name),
                      "",
                      {status.st_dev, status.st_ino, /*name=*/"", /*written_over=*/true}});
}

std::optional<CommandFiles::Identity> CommandFiles::IdentityOf(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) {
    if (IsNullDevice(status)) return std::nullopt;
    return Identity{status.st_dev, status.st_ino, /*name=*/"",
                    S_ISREG(status.st_mode) || S_ISBLK(status.st_mode)};
  }
  const std::filesystem::path target = WrittenFile(path);
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  if (::stat(folder.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, target.filename().string(), /*written_over=*/true};
}

absl::Status CommandFiles::CheckPair(const Entry& earlier, const Entry& later) {
  if (earlier.use != Use::kWritten && later.use != Use::kWritten) {
    // Two reads are fine; output printed to a file that is read would be appended to the input.
    if (earlier.use == later.use) return absl::OkStatus();
    return FieldError(later.flag, later.path,
                      absl::StrCat("is the file that ", earlier.flag, " goes to"));
  }
  const bool both_written = earlier.use == Use::kWritten && later.use == Use::kWritten;
  if (!both_written && !earlier.identity.written_over) return absl::OkStatus();
  const Entry& output = later.use == Use::kWritten ? later : earlier;
  const Entry& other = later.use == Use::kWritten ? earlier : later;
  if (other.use == Use::kPrintedTo) {
    return FieldError(
        output.flag, output.path,
        absl::StrCat("is the file that ", other.flag, " goes to; must be another file"));
  }
  return FieldError(output.flag, output.path,
                    absl::StrCat("is the file of ", other.flag, " = ", other.path,
                                 both_written ? " too; must be another file"
                                              : ", which must not be written over"));
}

absl::Status CommandFiles::Add(Use use, std::string_view flag, const std::string& path) {
  const std::optional<Identity> identity = IdentityOf(path);
  if (!identity) return absl::OkStatus();
  const Entry entry{use, std::string(flag), path, *identity};
  for (const Entry& earlier : entries_) {
    if (earlier.identity.SameFile(entry.identity)) RETURN_IF_ERROR(CheckPair(earlier, entry));
  }
  entries_.push_back(entry);
  return absl::OkStatus();
}

absl::Status CommandFiles::CheckBelowRoot(std::string_view flag, const std::string& path) const {
  if (root_.empty()) return absl::OkStatus();
  std::error_code error;
  // Links are followed: one below the folder may lead out of it.
  const auto root = std::filesystem::canonical(root_, error);
  const auto file = std::filesystem::weakly_canonical(path, error);
  const auto [root_end, ignored] =
      std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (!error && root_end == root.end()) return absl::OkStatus();
  return FieldError(flag, path, absl::StrCat("must lie below the folder ", root_));
}

absl::StatusOr<std::string> CommandFiles::Read(std::string_view flag, const std::string& path,
                                               uintmax_t max_bytes) {
  RETURN_IF_ERROR(CheckBelowRoot(flag, path));
  RETURN_IF_ERROR(Add(Use::kRead, flag, path));
  return ReadWholeFile(flag, path, max_bytes);
}

absl::StatusOr<std::string> CommandFiles::ReadStandardInput(std::string_view flag,
                                                            uintmax_t max_bytes) {
  if (const auto supplied = supplied_.find(flag); supplied != supplied_.end()) {
    if (supplied->second.text.size() <= max_bytes) return supplied->second.text;
    return FieldError(flag, supplied->second.name,
                      absl::StrCat("has ", supplied->second.text.size(),
                                   " bytes; must have at most ", max_bytes));
  }
  if (!root_.empty()) return FieldError(flag, "-", "must be a file, a name or an object");
  if (!input_flag_.empty()) {
    return FieldError(
        flag, "-",
        absl::StrCat("standard input is what --", input_flag_, " reads; must be a file or a name"));
  }
  input_flag_ = flag;
  RETURN_IF_ERROR(Add(Use::kRead, flag, "/dev/stdin"));
  return ReadWholeDescriptor(flag, STDIN_FILENO, max_bytes);
}

absl::StatusOr<OutputFile> CommandFiles::Claim(std::string_view flag, const std::string& path) {
  if (path.empty()) return OutputFile();
  if (const auto kept = kept_.find(flag); kept != kept_.end()) {
    return OutputFile(flag, path, kept->second);
  }
  if (!root_.empty()) return FieldError(flag, path, "must be absent: requests write no files");
  RETURN_IF_ERROR(Add(Use::kWritten, flag, path));
  RETURN_IF_ERROR(CheckWritable(flag, path));
  return OutputFile(flag, path, nullptr);
}

}  // namespace meshwright::cli
