#include "db/records.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"

namespace meshwright::db {

bool HasEnded(SweepState state) { return state >= SweepState::kFinished; }

bool HasEnded(TrialState state) { return state >= TrialState::kOk; }

bool IsHeld(TrialState state) {
  return state == TrialState::kAssigned || state == TrialState::kRunning;
}

int32_t TrialCounts::total() const { return std::accumulate(counts_.begin(), counts_.end(), 0); }

int32_t TrialCounts::ended() const {
  int32_t ended = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (HasEnded(static_cast<TrialState>(i))) ended += counts_[i];
  }
  return ended;
}

std::string TrialCounts::ToText() const {
  std::string text;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const std::string_view name = TrialStateName(static_cast<TrialState>(i));
    absl::StrAppend(&text, text.empty() ? "" : ", ", counts_[i], " ", AbslView(name));
  }
  return text;
}

}  // namespace meshwright::db
