#include "db/records.h"

#include <array>

namespace meshwright {
namespace {

constexpr std::array<std::string_view, 4> kSweepStates = {"pending", "running", "finished",
                                                          "cancelled"};
constexpr std::array<std::string_view, 8> kTrialStates = {
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
  return kTrialStates[static_cast<size_t>(state)];
}

std::optional<SweepState> ParseSweepState(std::string_view name) {
  return Find<SweepState>(kSweepStates, name);
}

std::optional<TrialState> ParseTrialState(std::string_view name) {
  return Find<TrialState>(kTrialStates, name);
}

bool HasEnded(SweepState state) { return state >= SweepState::kFinished; }

bool HasEnded(TrialState state) { return state >= TrialState::kOk; }

bool IsHeld(TrialState state) {
  return state == TrialState::kAssigned || state == TrialState::kRunning;
}

}  // namespace meshwright
