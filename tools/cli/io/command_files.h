// The files that one run of a command reads and writes.
//
// Every command reads its files through here and claims each file that it will write before its
// work begins. Callers may rely on it that nothing is written over what the command reads, over
// what another of its flags writes, or over the file that its printed output goes to. Files are the
// same where device and inode are, so hard links, symbolic links and other spellings of a path
// count; a file that isn't there yet is known by its folder and its name. The null device is
// nobody's file, and what can't be written over (pipes, terminals) is refused only where two flags
// write to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/io/whole_file.h"

namespace meshwright::cli {

// A file that a flag names for writing; made by CommandFiles::Claim().
class OutputFile {
 public:
  OutputFile() = default;

  bool wanted() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  // As WriteWholeFile(); does nothing where no file is wanted.
  absl::Status Write(std::string_view text) const;

 private:
  friend class CommandFiles;
  OutputFile(std::string_view flag, const std::string& path) : flag_(flag), path_(path) {}

  std::string flag_;
  std::string path_;
};

class CommandFiles {
 public:
  // Says that the command prints to `descriptor`, under a name for messages.
  void AddStream(std::string_view name, int descriptor);

  // As ReadWholeFile(); InvalidArgument about the flag that would write over this file.
  absl::StatusOr<std::string> Read(std::string_view flag, const std::string& path,
                                   uintmax_t max_bytes = kMaxFileBytes);

  // The file at `path`, to be written later; one that isn't wanted where `path` is empty.
  // InvalidArgument about `flag` where it can't be written or would be written over something.
  absl::StatusOr<OutputFile> Claim(std::string_view flag, const std::string& path);

 private:
  enum class Use : uint8_t { kRead, kWritten, kPrintedTo };
  struct Identity {
    uint64_t device = 0;
    uint64_t inode = 0;
    std::string name;           // in the folder `inode`, of a file that isn't there yet
    bool written_over = false;  // whether writing destroys what it holds

    bool SameFile(const Identity& other) const {
      return device == other.device && inode == other.inode && name == other.name;
    }
  };
  struct Entry {
    Use use;
    std::string flag;  // the stream's name where it is printed to
    std::string path;
    Identity identity;
  };

  static std::optional<Identity> IdentityOf(const std::string& path);
  // Whether both uses of one file can stand.
  static absl::Status CheckPair(const Entry& earlier, const Entry& later);
  absl::Status Add(Use use, std::string_view flag, const std::string& path);

  std::vector<Entry> entries_;
};

}  // namespace meshwright::cli
