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
  // Why the entry says nothing of a run that no row of a table says, such as being a default; empty
  // if somebody may have chosen it.
  std::string given = {};
  // True if a given entry is as if its name were left out, whatever a row of a table says.
  bool left_out = false;
};

// A text from outside, with the name that messages call it.
struct ConfigFile {
  std::string path;
  std::string text;
};

// Variables of a script's environment.
using Variables = std::map<std::string, std::string>;

// The most entries of a file. A launch line of Megatron-LM has about a hundred.
inline constexpr size_t kMostEntries = 4096;

// Return the entries of a file. They return InvalidArgument, which names the file and the place, if
// the text is not of the syntax or has more than kMostEntries entries.
//
// A JSON file's lists are texts; names of inner objects are joined by dots, here and in YAML.
absl::StatusOr<std::vector<ConfigEntry>> ReadJsonEntries(const ConfigFile& file);
// Reads maps, lists of plain values, and plain or quoted values. A launch line in comments, as an
// export writes it, is read too: its words follow `launcher`.
absl::StatusOr<std::vector<ConfigEntry>> ReadYamlEntries(const ConfigFile& file,
                                                         std::string_view launcher);
// Reads the launch line of a shell script, or a list of arguments
// (planner/interchange/shell_script.h). The files that the script writes go to `documents`, unless
// it is null.
absl::StatusOr<std::vector<ConfigEntry>> ReadLaunchEntries(
    const ConfigFile& file, const Variables& environment,
    std::vector<ConfigFile>* documents = nullptr);
// Reads the literals of a Python file's call of `callee`, such as "Trainer.Config(": keyword
// arguments, and those of calls inside. The value of a call is what it calls, "FullAC.Config".
absl::StatusOr<std::vector<ConfigEntry>> ReadPythonEntries(const ConfigFile& file,
                                                           std::string_view callee);

}  // namespace meshwright::planner
