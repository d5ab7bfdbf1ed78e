#include "db/records.h"

#include <array>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace meshwright::db {
namespace {

constexpr std::array<std::string_view, 4> kSweepStates = {"pending", "running", "finished",
                                                          "cancelled"};
constexpr std::array<std::string_view, kTrialStates> kTrialStateNames = {
    "pending", "assigned", "running", "ok", "oom", "failed", "timeout", "cancelled"};

template <typename State, size_t kCount>
std::optional<State> Find(const std::array<std::string_view, kCount>& names,
                          std::string_view name) {
  for (size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return static_cast<State>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view SweepStateName(SweepState state) {
  return kSweepStates[static_cast<size_t>(state)];
}

std::string_view TrialStateName(TrialState state) {
  return kTrialStateNames[static_cast<size_t>(state)];
}

std::optional<SweepState> ParseSweepState(std::string_view name) {
  return Find<SweepState>(kSweepStates, name);
}

std::optional<TrialState> ParseTrialState(std::string_view name) {
  return Find<TrialState>(kTrialStateNames, name);
}

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
    const std::string_view name = kTrialStateNames[i];
    absl::StrAppend(&text, text.empty() ? "" : ", ", counts_[i], " ",
                    absl::string_view(name.data(), name.size()));
  }
  return text;
}

}  // namespace meshwright::db
