// The functions here format and parse all resource names of the API.
//
//   sweeps/{sweep}                   {sweep}: letters, digits, '.', '-', '_', at most 63, not
//                                    starting with '.' or '-', which a command line could not name
//   sweeps/{sweep}/trials/{trial}    {trial}: a whole number from 1
//
// New sweeps get only such names. A stored sweep whose name breaks this rule is still found under
// its name.
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

// Returns the {sweep} part of a sweep's name, even if CheckSweepId() does not accept that part.
// Returns InvalidArgument, with the form of a name, for any other text.
absl::StatusOr<std::string> ParseSweepName(std::string_view name);
absl::StatusOr<TrialName> ParseTrialName(std::string_view name);

// Returns OK if a new sweep may have `sweep` as its {sweep} part.
absl::Status CheckSweepId(std::string_view sweep);

// Returns OK if an agent may have this name. The rule is that of CheckSweepId().
absl::Status CheckAgentName(std::string_view agent);
// Returns the stem of a sweep's name, made from `model`. With "-" and any number from 0 appended,
// it passes CheckSweepId().
std::string SweepIdStem(std::string_view model);

}  // namespace meshwright
