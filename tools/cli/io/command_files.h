// CommandFiles tracks the files that one run of a command reads and writes.
//
// Every command reads its files through CommandFiles, and claims each file that it will write
// before its work begins. A command therefore never overwrites a file that it reads, that another
// of its flags writes, or to which its printed output goes.
//
// Two paths name the same file if device and inode are the same. Hard links, symbolic links and
// other spellings of a path are therefore recognised. A file that does not exist yet is identified
// by its folder and its name. The null device never conflicts. Since writing to a pipe or a
// terminal destroys nothing, these conflict only if two flags write to the same one.
//
// A program that runs a command in its own process may pass texts instead of files: Supply()
// provides the text that a flag reads, and Keep() takes the text that a flag writes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/io/whole_file.h"

namespace meshwright::cli {

// The text that a flag reads as its standard input.
struct SuppliedText {
  std::string name;  // name of the spec that the text describes
  std::string text;
};

// A file that a flag names for writing; made by CommandFiles::Claim().
class OutputFile {
 public:
  OutputFile() = default;

  bool wanted() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  // Writes the file as WriteWholeFile() does. Does nothing if no file is wanted.
  absl::Status Write(std::string_view text) const;

 private:
  friend class CommandFiles;
  OutputFile(std::string_view flag, const std::string& path, std::shared_ptr<std::string> kept)
      : flag_(flag), path_(path), kept_(std::move(kept)) {}

  std::string flag_;
  std::string path_;
  std::shared_ptr<std::string> kept_;  // takes the text in place of the file; null for a file
};

class CommandFiles {
 public:
  // Declares that the command prints to `descriptor`. Messages call the stream `name`.
  void AddStream(std::string_view name, int descriptor);

  // From now on, the command may read only files below the folder, writes only texts that Keep()
  // takes, and reads as standard input only what Supply() provides. For requests that do not come
  // from the user.
  void RestrictTo(const std::string& folder) { root_ = folder; }

  // Reads the file as ReadWholeFile() does. Returns InvalidArgument if a flag would overwrite this
  // file, or if the command prints to it.
  absl::StatusOr<std::string> Read(std::string_view flag, const std::string& path,
                                   uintmax_t max_bytes = kMaxFileBytes);

  // From now on, what `flag` reads as standard input is `supplied`.
  void Supply(const std::string& flag, SuppliedText supplied);
  // From now on, what `flag` writes to a file is kept in memory instead.
  void Keep(const std::string& flag);
  // Returns the texts that were written by the flags of Keep(), by flag.
  std::map<std::string, std::string> KeptTexts() const;

  // Returns the name of what `flag` reads as standard input: "stdin", or the supplied text's name.
  std::string InputName(std::string_view flag) const;
  // Reads standard input to its end, or returns the text that was supplied for `flag`. Returns the
  // errors of Read(), and InvalidArgument, which names `flag`, if another flag has read standard
  // input.
  absl::StatusOr<std::string> ReadStandardInput(std::string_view flag,
                                                uintmax_t max_bytes = kMaxFileBytes);

  // Returns the file at `path`, which is written later. If `path` is empty, the returned file is
  // not wanted. Returns InvalidArgument, which names `flag`, if the file can't be written, if the
  // command reads it or prints to it, or if another flag writes it.
  absl::StatusOr<OutputFile> Claim(std::string_view flag, const std::string& path);

 private:
  enum class Use : uint8_t { kRead, kWritten, kPrintedTo };
  struct Identity {
    uint64_t device = 0;
    uint64_t inode = 0;
    std::string name;           // if the file does not exist yet, its name in the folder `inode`
    bool written_over = false;  // whether writing destroys the content

    bool SameFile(const Identity& other) const {
      return device == other.device && inode == other.inode && name == other.name;
    }
  };
  struct Entry {
    Use use;
    std::string flag;  // for kPrintedTo, the name of the stream
    std::string path;
    Identity identity;
  };

  absl::Status CheckBelowRoot(std::string_view flag, const std::string& path) const;
  static std::optional<Identity> IdentityOf(const std::string& path);
  // Returns OK if two uses of one file are compatible.
  static absl::Status CheckPair(const Entry& earlier, const Entry& later);
  absl::Status Add(Use use, std::string_view flag, const std::string& path);

  std::vector<Entry> entries_;
  std::string root_;        // the folder of RestrictTo(); empty: any file
  std::string input_flag_;  // the flag that read standard input; empty if none did
  std::map<std::string, SuppliedText, std::less<>> supplied_;
  std::map<std::string, std::shared_ptr<std::string>, std::less<>> kept_;
};

}  // namespace meshwright::cli
