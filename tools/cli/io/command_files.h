// CommandFiles tracks the files that one run of a command reads and writes.
//
// Every command reads its files through it and claims each file that it will write before its work
// begins. Callers may rely on: nothing overwrites a file that the command reads, that another of
// its flags writes, or that its printed output goes to. Files are the same where device and inode
// are, so that hard links, symbolic links and other spellings of a path count; a file that does not
// exist yet is identified by its folder and its name. The null device never conflicts, and what
// can't be overwritten (pipes, terminals) is refused only where two flags write to it.
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
  // Declares that the command prints to `descriptor`; `name` is for messages.
  void AddStream(std::string_view name, int descriptor);

  // As ReadWholeFile(); InvalidArgument about the flag that would overwrite this file.
  absl::StatusOr<std::string> Read(std::string_view flag, const std::string& path,
                                   uintmax_t max_bytes = kMaxFileBytes);

  // Returns the file at `path`, to be written later; one that is not wanted where `path` is empty.
  // InvalidArgument about `flag` where it can't be written or would overwrite something.
  absl::StatusOr<OutputFile> Claim(std::string_view flag, const std::string& path);

 private:
  enum class Use : uint8_t { kRead, kWritten, kPrintedTo };
  struct Identity {
    uint64_t device = 0;
    uint64_t inode = 0;
    std::string name;           // name in the folder `inode`, of a file that does not exist yet
    bool written_over = false;  // whether writing destroys the content

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
  // Whether two uses of one file are compatible.
  static absl::Status CheckPair(const Entry& earlier, const Entry& later);
  absl::Status Add(Use use, std::string_view flag, const std::string& path);

  std::vector<Entry> entries_;
};

}  // namespace meshwright::cli
