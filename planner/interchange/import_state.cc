#include "planner/interchange/import_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

// Returns the name as --set takes it.
std::string NormalSet(std::string_view name) {
  while (!name.empty() && (name.front() == '-' || name.front() == '+')) name.remove_prefix(1);
  return std::string(name);
}

}  // namespace

bool IsListed(std::string_view list, std::string_view name) {
  for (const absl::string_view one : absl::StrSplit(AbslView(list), ' ')) {
    if (StdView(one) == name) return true;
  }
  return false;
}

void ImportState::Reject(size_t index, std::string hint) {
  imported.entries[index].status = EntryStatus::kRejected;
  imported.entries[index].hint = std::move(hint);
}

void ImportState::RejectSetting(std::string_view setting, const std::string& hint) {
  const auto found = said.find(std::string(setting));
  if (found == said.end()) {
    imported.missing.push_back(hint);
    return;
  }
  for (const size_t index : found->second.entries) Reject(index, hint);
}

void ImportState::Check(const absl::Status& status) {
  if (!status.ok()) RejectSetting(FieldOf(status), std::string(status.message()));
}

void ImportState::AskFor(std::string_view setting) {
  lacks = true;
  for (const NameTable table : framework.tables) {
    for (const NameRow& row : table) {
      if (row.setting != setting || row.use != NameUse::kBoth) continue;
      imported.missing.push_back(absl::StrCat(AbslView(row.name), " is missing; --set ",
                                              NormalSet(row.name), "=VALUE gives it"));
      return;
    }
  }
  imported.missing.push_back(absl::StrCat(AbslView(setting), " is missing"));
}

int64_t ImportState::CountOr(std::string_view setting, int64_t otherwise) const {
  return settings.CountOf(setting).value_or(otherwise);
}

}  // namespace meshwright::planner
