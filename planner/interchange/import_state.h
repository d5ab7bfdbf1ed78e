// ImportState is what an import holds while it turns entries of files into settings, and settings
// into a layout.
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

// The values that the entries so far leave for a setting, the likeliest first.
struct SaidValues {
  std::vector<std::string> values;
  std::vector<size_t> entries;  // in ImportState::read
};

struct ImportState {
  // REQUIRES: both outlive the state.
  ImportState(const Framework& of_framework, const ImportQuestion& asked)
      : framework(of_framework), question(asked) {}

  void Reject(size_t index, std::string hint);
  // Rejects the entries that said the setting; adds to what is missing if none did.
  void RejectSetting(std::string_view setting, const std::string& hint);
  // Takes an error about a setting, which its field names.
  void Check(const absl::Status& status);
  // Adds a sentence that asks for a setting by the framework's own name of it.
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
  bool lacks = false;  // whether something is missing without which there is no layout
};

// Returns whether a list of names with blanks between them has the name.
bool IsListed(std::string_view list, std::string_view name);

}  // namespace meshwright::planner
