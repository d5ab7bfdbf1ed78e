#include "planner/interchange/imported.h"

#include <algorithm>

namespace meshwright::planner {

bool Imported::rejects() const {
  return std::any_of(entries.begin(), entries.end(), [](const ImportedEntry& entry) {
    return entry.status == EntryStatus::kRejected;
  });
}

bool Imported::complete() const { return layout && missing.empty() && !rejects(); }

}  // namespace meshwright::planner
