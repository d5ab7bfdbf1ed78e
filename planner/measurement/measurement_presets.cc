#include "planner/measurement/measurement_presets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/model_names.h"
#include "planner/catalog/profile_variants.h"
#include "planner/measurement/measured_options.h"
#include "planner/measurement/row_condition.h"
#include "planner/measurement/source_words.h"

namespace meshwright::planner {
namespace {

// A device reports a few per cent less than its name says; beyond this it is another device.
constexpr double kSameMemory = 0.08;
constexpr std::string_view kDefaultFramework = "megatron";

// Length of the longest of `names` that `text` begins with, however it is spelt; 0 for none.
size_t LongestPrefix(std::string_view text, const std::vector<std::string>& names) {
  const std::string words = PlainWords(text);
  size_t longest = 0;
  for (const std::string& name : names) {
    if (name.size() > longest && words.starts_with(PlainWords(name))) longest = name.size();
  }
  return longest;
}

// Returns the ways to read a GPU's name: as it stands, without the vendor, and as a remark in
// parentheses names it ("NVIDIA GPU (GB200)").
std::vector<std::string> ReadingsOf(const std::string& gpu) {
  std::vector<std::string> readings = {gpu};
  for (const absl::string_view vendor : {"NVIDIA ", "AMD Instinct ", "AMD "}) {
    if (!absl::StartsWithIgnoreCase(gpu, vendor)) continue;
    readings.push_back(gpu.substr(vendor.size()));
    break;
  }
  const size_t open = gpu.find('(');
  const size_t close = gpu.find(')');
  if (open != std::string::npos && close != std::string::npos && open < close) {
    readings.push_back(gpu.substr(open + 1, close - open - 1));
  }
  return readings;
}

// Returns how many letters of the row's GPU name match this cluster; 0 if none match.
size_t GpuNameMatch(const Measurement& row, const ClusterSpec& cluster) {
  size_t most = 0;
  for (const std::string& gpu : ReadingsOf(row.gpu)) {
    const bool is_its_own = absl::EqualsIgnoreCase(gpu, cluster.name) ||
                            absl::EqualsIgnoreCase(gpu, cluster.device.name);
    most = std::max(most, is_its_own ? gpu.size() : LongestPrefix(gpu, cluster.gpu_names));
  }
  return most;
}

double MemoryGib(const ClusterSpec& cluster) {
  return static_cast<double>(cluster.device.memory_bytes) / kBytesPerGib;
}

// Returns the distance between the memory of the cluster's device and the memory that the row
// states; less is better.
double MemoryDistance(const ClusterSpec& cluster, const Measurement& row) {
  return row.gpu_mem_gib ? std::abs(MemoryGib(cluster) - *row.gpu_mem_gib) : -MemoryGib(cluster);
}

// Returns the preset with the most comparisons among those whose `rows` hold for the row; nullptr
// if there is none.
template <typename Preset>
absl::StatusOr<const Preset*> FindByConditions(const std::vector<Preset>& presets,
                                               const Measurement& row) {
  const Preset* best = nullptr;
  int32_t most = 0;
  for (const Preset& preset : presets) {
    ASSIGN_OR_RETURN(const int32_t comparisons, MostComparisonsThatHold(preset.rows, row));
    if (comparisons <= most) continue;
    most = comparisons;
    best = &preset;
  }
  return best;
}

absl::StatusOr<const ClusterSpec*> FindClusterFor(const std::vector<ClusterSpec>& clusters,
                                                  const Measurement& row) {
  ASSIGN_OR_RETURN(const ClusterSpec* described, FindByConditions(clusters, row));
  if (described != nullptr) return described;
  const ClusterSpec* best = nullptr;
  size_t best_prefix = 1;  // a prefix of no letters names nothing
  for (const ClusterSpec& cluster : clusters) {
    const size_t prefix = GpuNameMatch(row, cluster);
    if (prefix < best_prefix) continue;
    if (prefix > best_prefix || best == nullptr ||
        MemoryDistance(cluster, row) < MemoryDistance(*best, row)) {
      best = &cluster;
      best_prefix = prefix;
    }
  }
  return best;
}

// Length of the longest of the texts, divided by "|", that the notes contain; 0 for none.
size_t LongestIn(const std::string& notes, const std::string& texts) {
  size_t longest = 0;
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(texts, '|'))) {
    if (absl::StrContains(notes, text)) longest = std::max(longest, text.size());
  }
  return longest;
}

// Returns the profile that the row's framework and its engine version name.
absl::StatusOr<const FrameworkProfile*> NamedProfile(const MeasurementPresets& presets,
                                                     const Measurement& row) {
  ASSIGN_OR_RETURN(const FrameworkProfile* described, FindByConditions(presets.profiles, row));
  if (described != nullptr) return described;
  const std::string_view name =
      row.framework.empty() ? kDefaultFramework : std::string_view(row.framework);
  const FrameworkProfile* best = nullptr;
  size_t best_prefix = 0;
  size_t best_noted = 0;
  for (const FrameworkProfile& profile : presets.profiles) {
    const size_t noted = LongestIn(row.notes, profile.notes_contain);
    std::vector<std::string> names = {profile.name};
    if (profile.notes_contain.empty() || noted > 0) {
      names.insert(names.end(), profile.aliases.begin(), profile.aliases.end());
    }
    const size_t prefix = LongestPrefix(name, names);
    // A profile of an engine version that the notes name goes before the framework's general
    // profile. Among several such profiles, the one with the longest match in the notes goes first.
    const bool more_noted = prefix > 0 && prefix == best_prefix && noted > best_noted;
    if (prefix > best_prefix || more_noted) {
      best = &profile;
      best_prefix = prefix;
      best_noted = noted;
    }
  }
  if (best == nullptr) return FieldError("framework", name, "no framework profile of this name");
  return best;
}

// Returns the profile of the same framework under the options.
absl::StatusOr<const FrameworkProfile*> ProfileUnder(const MeasurementPresets& presets,
                                                     const FrameworkProfile* profile,
                                                     const RunOptions& options) {
  if (options == RunOptions()) return profile;
  ASSIGN_OR_RETURN(const FrameworkProfile variant, VariantOf(*profile, options));
  if (variant.name == profile->name) return profile;
  const auto preset = std::find_if(
      presets.profiles.begin(), presets.profiles.end(),
      [&](const FrameworkProfile& candidate) { return candidate.name == variant.name; });
  if (preset == presets.profiles.end()) {
    return FieldError("framework", variant.name, "no framework profile of this name");
  }
  return &*preset;
}

}  // namespace

absl::StatusOr<MeasurementPresets> LoadMeasurementPresets(int32_t host_cores) {
  MeasurementPresets presets;
  for (const std::string& name : ModelNames()) {
    ASSIGN_OR_RETURN(ModelSpec model, FindModel(name));
    presets.models.push_back(std::move(model));
  }
  for (const std::string& name : ClusterNames()) {
    ASSIGN_OR_RETURN(ClusterSpec cluster, FindCluster(name, host_cores));
    presets.clusters.push_back(std::move(cluster));
  }
  for (const std::string& name : ProfileNames()) {
    ASSIGN_OR_RETURN(FrameworkProfile profile, FindProfile(name));
    presets.profiles.push_back(std::move(profile));
  }
  ASSIGN_OR_RETURN(presets.families, LoadModelFamilies());
  return presets;
}

const ModelSpec* ModelOf(const MeasurementPresets& presets, const Measurement& row) {
  const std::optional<ModelName> named = ModelOfRow(row.model);
  if (!named) return nullptr;
  const auto preset =
      std::find_if(presets.models.begin(), presets.models.end(),
                   [&](const ModelSpec& model) { return model.name == named->preset; });
  return preset == presets.models.end() ? nullptr : &*preset;
}

absl::StatusOr<ClusterSpec> ClusterOf(const MeasurementPresets& presets, const Measurement& row) {
  if (presets.cluster) return *presets.cluster;
  ASSIGN_OR_RETURN(const ClusterSpec* found, FindClusterFor(presets.clusters, row));
  if (found == nullptr) return FieldError("gpu", row.gpu, "no cluster preset for this GPU");
  ClusterSpec cluster = *found;
  if (row.gpus_per_node && !cluster.scale_up_spans_hosts) {
    RETURN_IF_ERROR(
        CheckRange("gpus_per_node", *row.gpus_per_node, 1, std::numeric_limits<int32_t>::max()));
    cluster.devices_per_node = static_cast<int32_t>(*row.gpus_per_node);
  }
  if (row.gpu_mem_gib) {
    RETURN_IF_ERROR(CheckPositive("gpu_mem_gib", *row.gpu_mem_gib));
    if (std::abs(MemoryGib(cluster) / *row.gpu_mem_gib - 1.0) > kSameMemory) {
      cluster.device.memory_bytes =
          static_cast<int64_t>(std::min(*row.gpu_mem_gib, 1e6) * kBytesPerGib);
    }
  }
  RETURN_IF_ERROR(Validate(cluster));
  return cluster;
}

absl::StatusOr<const FrameworkProfile*> ProfileOf(const MeasurementPresets& presets,
                                                  const Measurement& row) {
  if (presets.profile) return &*presets.profile;
  TrainingSpec training;
  RETURN_IF_ERROR(ReadMeasuredOptions(row, training));
  ASSIGN_OR_RETURN(const FrameworkProfile* named, NamedProfile(presets, row));
  return ProfileUnder(presets, named, training.options);
}

}  // namespace meshwright::planner
