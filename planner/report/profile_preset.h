// ProfilePreset is what `meshwright list profiles` shows of a preset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/codec/fields.h"
#include "planner/report/preset_evidence.h"

namespace meshwright::planner {

struct ProfilePreset {
  std::string name;
  std::vector<std::string> other_names;  // names that stand for the same file
  std::string framework;                 // the program that it describes, in a few words
  std::vector<std::string> axes;         // layout keys over which the framework can divide a run
  int64_t min_zero = 0;
  int64_t max_zero = 0;
  std::vector<std::string> schedules;  // empty if it has no pipeline
  PresetEvidence evidence;             // evidence, under the name of the preset that was fitted
  std::optional<double> median_error;  // median error of the fit's step times, a fraction
  std::string based_on;                // empty if the file stands by itself

  friend bool operator==(const ProfilePreset&, const ProfilePreset&) = default;
};

template <ConstOr<ProfilePreset> Preset, typename Visitor>
void VisitFields(Preset& preset, Visitor& visit) {
  visit("name", preset.name);
  visit("other_names", preset.other_names);
  visit("framework", preset.framework);
  visit("axes", preset.axes);
  visit("min_zero", preset.min_zero);
  visit("max_zero", preset.max_zero);
  visit("schedules", preset.schedules);
  visit("evidence", preset.evidence);
  visit("median_error", preset.median_error);
  visit("based_on", preset.based_on);
}

// Returns every framework profile that is compiled in, in the order of ProfileNames().
std::vector<ProfilePreset> ProfilePresets();

}  // namespace meshwright::planner
