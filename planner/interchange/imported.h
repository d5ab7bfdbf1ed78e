// ImportQuestion is the input of an import (planner/interchange/import.h), and Imported its result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/enum_names.h"
#include "planner/interchange/config_entry.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

enum class EntryStatus : uint8_t { kUsed, kIgnored, kRejected };
inline constexpr EnumNames<EntryStatus, 3> kEntryStatusNames = {{
    {EntryStatus::kUsed, "used"},
    {EntryStatus::kIgnored, "ignored"},
    {EntryStatus::kRejected, "rejected"},
}};

struct ImportedEntry {
  std::string file;
  std::string name;
  std::string value;
  EntryStatus status = EntryStatus::kIgnored;
  std::string key;   // the layout's key, the option or the request's field
  std::string hint;  // why it is ignored or rejected, and what helps
};

struct ImportQuestion {
  std::vector<ConfigFile> files = {};
  Variables environment = {};             // of a shell script
  std::vector<ConfigEntry> further = {};  // entries in addition to those of the files
  // Values from the caller, for what the files lack: the total number of devices, the sequence
  // length, the batch and the model. If a file has such a value too, the caller's is used.
  std::optional<int64_t> devices = {};
  std::optional<int64_t> seq_len = {};
  std::optional<int64_t> global_batch = {};
  std::string model = {};
};

struct Imported {
  std::optional<Layout> layout;
  std::string model;    // a preset or a name in the files; empty if there is neither
  int64_t devices = 0;  // 0 if unknown, as are the next two
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  std::string dtype;
  std::vector<std::pair<std::string, std::string>> options;  // those that differ from the default
  std::vector<ImportedEntry> entries;
  std::vector<std::string> missing;  // a message for each value that is still needed

  bool rejects() const;
  // Returns whether the layout and the request are known and no entry was rejected.
  bool complete() const;
};

}  // namespace meshwright::planner
