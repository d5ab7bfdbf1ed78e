// ConfigEntry is one name with its value, as a framework's file or launch line has it. The readers
// of all syntaxes return entries.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::planner {

struct ConfigEntry {
  std::string name;   // "--micro-batch-size", "fsdp_config.fsdp_version"
  std::string value;  // without quotes; empty if the name stands alone
  // The variable that the value needs and that the file does not set; empty if it needs none.
  std::string unknown_variable = {};
  // True if the script has the entry only under a condition that the file does not decide.
  bool conditional = false;
  // Why the import ignores the entry unless a row of a table has a meaning for its value, such as
  // that the value is the default. Empty if somebody may have chosen the value.
  std::string given = {};
  // True if the import treats an entry with `given` as if the file did not have its name, even if a
  // row of a table has a meaning for its value.
  bool left_out = false;
};

// A text from outside, with the name that messages use for it.
struct ConfigFile {
  std::string path;
  std::string text;
};

// Variables of a script's environment.
using Variables = std::map<std::string, std::string>;

// The most entries of a file. A launch line of Megatron-LM has about a hundred.
inline constexpr size_t kMostEntries = 4096;

// The functions below return the entries of a file. They return InvalidArgument, which names the
// file and the place, if the text does not have the syntax or has more than kMostEntries entries.
//
// The value of a JSON list is its text. The names of nested objects are joined by dots, here and in
// YAML.
absl::StatusOr<std::vector<ConfigEntry>> ReadJsonEntries(const ConfigFile& file);
// Reads maps, lists of plain values, and plain or quoted values. A launch line in comments, as an
// export writes it, is read too: its arguments follow `launcher`.
absl::StatusOr<std::vector<ConfigEntry>> ReadYamlEntries(const ConfigFile& file,
                                                         std::string_view launcher);
// Reads the launch line of a shell script, or a list of arguments
// (planner/interchange/shell_script.h). The files that the script writes go to `documents`, unless
// it is null.
absl::StatusOr<std::vector<ConfigEntry>> ReadLaunchEntries(
    const ConfigFile& file, const Variables& environment,
    std::vector<ConfigFile>* documents = nullptr);
// Finds the call of `callee`, such as "Trainer.Config(", in a Python file. Reads its keyword
// arguments that are literals, and those of the calls nested in it. If an argument is itself a
// call, its value is the name of the function, such as "FullAC.Config".
absl::StatusOr<std::vector<ConfigEntry>> ReadPythonEntries(const ConfigFile& file,
                                                           std::string_view callee);

}  // namespace meshwright::planner
