#include "planner/report/profile_preset.h"

#include <string_view>

#include "absl/status/statusor.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/profile_names.h"
#include "planner/layout/layout.h"
#include "planner/rules/framework_rules.h"

namespace meshwright::planner {
namespace {

std::vector<std::string> AxesOf(const Supports& has) {
  std::vector<std::string> axes;
  const auto add = [&axes](bool present, const char* axis) {
    if (present) axes.emplace_back(axis);
  };
  const bool has_chunks =
      has.has_interleaving || has.has_breadth_first || has.has_zb_v || has.has_v_half;
  add(has.has_tensor_parallel, "tp");
  add(has.has_tensor_parallel && has.has_sequence_parallel, "sp");
  add(has.has_context_parallel, "cp");
  add(has.has_pipeline, "pp");
  add(has.has_pipeline && has_chunks, "vpp");
  add(has.has_experts && has.has_expert_parallel, "ep");
  add(has.has_hsdp, "hs");
  return axes;
}

std::vector<std::string> ScheduleNamesOf(const Supports& has) {
  std::vector<std::string> names;
  if (!has.has_pipeline) return names;
  SchedulesOf(has).ForEach(
      [&names](ScheduleKind schedule) { names.emplace_back(ScheduleName(schedule)); });
  return names;
}

std::string BaseOfProfile(std::string_view name) {
  const absl::StatusOr<std::string_view> text = ProfileText(name);
  return text.ok() ? BaseNameIn(*text) : "";
}

std::optional<FittedPreset> FittedBaseOfProfile(std::string_view name) {
  const absl::StatusOr<FrameworkProfile> base = FindProfile(BaseOfProfile(name));
  if (!base.ok()) return std::nullopt;
  return FittedPreset{base->name, base->calibration};
}

ProfilePreset DescribedProfile(const FrameworkProfile& profile) {
  ProfilePreset preset;
  preset.name = profile.name;
  preset.other_names = OtherNamesOfProfile(profile.name);
  preset.framework = FrameworkOfProfile(profile.name);
  preset.axes = AxesOf(profile.supports);
  preset.min_zero = profile.supports.min_zero;
  preset.max_zero = profile.supports.max_zero;
  preset.schedules = ScheduleNamesOf(profile.supports);
  preset.evidence = EvidenceOf(profile);
  preset.evidence.name = OwnerOfFit({profile.name, profile.calibration}, FittedBaseOfProfile);
  preset.median_error = MedianErrorOf(profile.calibration);
  preset.based_on = BaseOfProfile(profile.name);
  return preset;
}

}  // namespace

std::vector<ProfilePreset> ProfilePresets() {
  std::vector<ProfilePreset> presets;
  for (const std::string& name : ProfileNames()) {
    const absl::StatusOr<FrameworkProfile> profile = FindProfile(name);
    if (profile.ok()) presets.push_back(DescribedProfile(*profile));  // a test reads them all
  }
  return presets;
}

}  // namespace meshwright::planner
