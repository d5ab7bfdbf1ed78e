// Resource names of the API: built and read here and nowhere else.
//
//   sweeps/{sweep}                   {sweep}: letters, digits, '.', '-', '_', at most 63, not
//                                    starting with '.' or '-', which a command line could not name
//   sweeps/{sweep}/trials/{trial}    {trial}: a whole number from 1
//
// New sweeps get such names only; a stored sweep is found under whatever name it has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright {

struct TrialName {
  std::string sweep;   // the last part of the sweep's name
  int32_t number = 0;  // from 1

  friend bool operator==(const TrialName&, const TrialName&) = default;
};

std::string FormatSweepName(std::string_view sweep);
std::string FormatTrialName(std::string_view sweep, int32_t number);

// The {sweep} part, which may be one that no new sweep could have. InvalidArgument says what a name
// looks like.
absl::StatusOr<std::string> ParseSweepName(std::string_view name);
absl::StatusOr<TrialName> ParseTrialName(std::string_view name);

// Whether a new sweep may have `sweep` as its {sweep} part.
absl::Status CheckSweepId(std::string_view sweep);

// Agents are named by the same rule.
absl::Status CheckAgentName(std::string_view agent);
// `model` as far as a name can hold it: with "-" and any number from 0 behind it, it passes
// CheckSweepId().
std::string SweepIdStem(std::string_view model);

}  // namespace meshwright
