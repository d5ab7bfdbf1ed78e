// ImportState holds the intermediate results of an import, which converts the entries of files to
// settings, and the settings to a layout.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/imported.h"
#include "planner/interchange/settings.h"

namespace meshwright::planner {

// The values of a setting that the entries read so far leave possible, the likeliest first.
struct SaidValues {
  std::vector<std::string> values;
  std::vector<size_t> entries;  // in ImportState::read
};

struct ImportState {
  // REQUIRES: both outlive the state.
  ImportState(const Framework& of_framework, const ImportQuestion& asked)
      : framework(of_framework), question(asked) {}

  void Reject(size_t index, std::string hint);
  // Rejects the entries that gave the setting; if none did, adds the hint to `imported.missing`.
  void RejectSetting(std::string_view setting, const std::string& hint);
  // If the status is an error, rejects the setting that its field names.
  void Check(const absl::Status& status);
  // Adds a message to `imported.missing` that asks for the setting by the framework's name for it.
  void AskFor(std::string_view setting);
  int64_t CountOr(std::string_view setting, int64_t otherwise) const;

  const Framework& framework;
  const ImportQuestion& question;
  std::vector<ConfigEntry> read;  // imported.entries has one for each, in the same order
  std::vector<std::string>
      documents;  // paths of the files that a script writes, and that were read
  std::map<std::string, SaidValues> said;
  std::set<std::string> left_to_others;  // settings that an entry leaves to another file
  Settings settings;
  Imported imported;
  bool lacks = false;  // true if the layout lacks a value or has a wrong one
};

// Returns whether a list of names with blanks between them has the name.
bool IsListed(std::string_view list, std::string_view name);

}  // namespace meshwright::planner
