#include "planner/catalog/catalog.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"
#include "planner/catalog/cluster_fields.h"
#include "planner/catalog/cluster_names.h"
#include "planner/catalog/cluster_words.h"
#include "planner/catalog/model_names.h"
#include "planner/catalog/profile_fields.h"
#include "planner/catalog/profile_names.h"
#include "planner/codec/json_codec.h"
#include "planner/codec/json_fields.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

// NCCL_BUFFSIZE's 4 MiB for each of the 4 channels that the worker gives a group of messages.
constexpr int64_t kLaneBufferBytes = int64_t{16} << 20;
// What a device holds outside a run's tensors if its file does not say, as the h100 preset has it:
// the context with its libraries, and a communicator's buffers. cuBLAS has a workspace of this size
// on devices before Hopper.
constexpr int64_t kUsualContextBytes = int64_t{1} << 30;
constexpr int64_t kUsualCommunicatorBytes = int64_t{512} << 20;
constexpr int64_t kUsualWorkspaceBytes = 8'519'680;
constexpr double kUsualLaunchS = 4.5e-6;  // a kernel's launch, as in the h100 preset
constexpr int64_t kNotSaid = -(int64_t{1} << 62);
constexpr double kFigureNotSaid = -1.0;

std::vector<std::string> FileNames(absl::Span<const EmbeddedFile> files) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : files) names.emplace_back(file.name);
  return names;
}

absl::StatusOr<std::string_view> FindPreset(std::string_view what, std::string_view name,
                                            absl::Span<const EmbeddedFile> files) {
  std::vector<std::string> known;
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.text;
    known.emplace_back(file.name);
  }
  return WithField(UnknownName(what, name, known), what);
}

// The power of a device in its other states, as shares of its power while it computes. The share
// for exposed communication is the middle of the 0.81 to 0.84 in arXiv 2411.13055; the other share
// is chosen.
constexpr double kExposedPower = 0.825;
constexpr double kIdlePower = 0.12;

void SetUnsaidPower(PowerProfile& power) {
  if (power.exposed_w == 0.0) power.exposed_w = kExposedPower * power.compute_w;
  if (power.idle_w == 0.0) power.idle_w = kIdlePower * power.compute_w;
}

void MarkUnsaid(HardwareProfile& device) {
  device.compute_units = 1;
  device.tile_m = 1;
  device.tile_n = 1;
  device.context_bytes = kNotSaid;
  device.communicator_bytes = kNotSaid;
  device.point_to_point_communicator_bytes = kNotSaid;
  device.matmul_workspace_bytes = kNotSaid;
  device.kernel_launch_s = kFigureNotSaid;
  device.step_time_sigma = kFigureNotSaid;
}

// Processes on a processor's cores have no context of a device, and no buffers outside their own
// memory.
void SetUnsaid(DeviceKind kind, Evidence rests_on, HardwareProfile& device) {
  const bool apart = !SharesCores(kind);
  const auto set = [apart](int64_t usual, int64_t& bytes) {
    if (bytes == kNotSaid) bytes = apart ? usual : 0;
  };
  set(kUsualContextBytes, device.context_bytes);
  set(kUsualCommunicatorBytes, device.communicator_bytes);
  set(kUsualWorkspaceBytes, device.matmul_workspace_bytes);
  set(std::min(device.communicator_bytes, kLaneBufferBytes),
      device.point_to_point_communicator_bytes);
  if (device.kernel_launch_s == kFigureNotSaid) {
    device.kernel_launch_s = apart ? kUsualLaunchS : 0.0;
  }
  if (device.step_time_sigma == kFigureNotSaid) {
    device.step_time_sigma = AssumedStepTimeSigma(rests_on);
  }
}

}  // namespace

std::vector<std::string> ModelNames() { return FileNames(EmbeddedModels()); }
std::vector<std::string> ClusterNames() { return FileNames(EmbeddedClusters()); }
std::vector<std::string> ProfileNames() { return FileNames(EmbeddedProfiles()); }

absl::StatusOr<std::string_view> ModelText(std::string_view name) {
  const std::optional<ModelName> named = ModelNamed(name);
  auto text = FindPreset("model", named ? named->preset : name, EmbeddedModels());
  if (text.ok()) return text;
  return WithField(
      absl::NotFoundError(absl::StrCat(text.status().message(),
                                       "; a path of the model's config.json is accepted as well")),
      "model");
}

absl::StatusOr<std::string_view> ClusterText(std::string_view name) {
  const std::string named = ClusterNamed(name);
  return FindPreset("cluster", named.empty() ? name : named, EmbeddedClusters());
}

absl::StatusOr<std::string_view> ProfileText(std::string_view name) {
  const std::string named = ProfileNamed(name);
  return FindPreset("framework", named.empty() ? name : named, EmbeddedProfiles());
}

absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view text, int32_t host_cores,
                                            FindText find_base) {
  ASSIGN_OR_RETURN(const nlohmann::json own, ParseJsonObject("cluster", text));
  ASSIGN_OR_RETURN(nlohmann::json object, OnItsBase("cluster", own, find_base));
  RETURN_IF_ERROR(ReplaceClusterWords(own, object));
  // A count, or "detect" for the cores of the machine that asks.
  if (object.contains("physical_cores") && object["physical_cores"] == "detect") {
    object["physical_cores"] = host_cores;
  }
  ClusterSpec cluster;
  MarkUnsaid(cluster.device);
  RETURN_IF_ERROR(ReadJson("cluster", object, UnknownKeys::kRefuse, cluster));
  // A fitted file without the key rests on the runs of its fit.
  const bool says_evidence = object.contains("rests_on") && !object["rests_on"].is_null();
  if (!says_evidence && cluster.calibration.rows > 0) cluster.rests_on = Evidence::kRuns;
  SetUnsaid(cluster.device_kind(), cluster.rests_on, cluster.device);
  SetUnsaidPower(cluster.power);
  if (own.contains("based_on") && !own.contains("rests_on")) {
    ASSIGN_OR_RETURN(const std::string base, find_base(own["based_on"].get<std::string>()));
    ASSIGN_OR_RETURN(const ClusterSpec based_on, ClusterFromJson(base, host_cores, find_base));
    cluster.unmeasured = cluster.unmeasured.With(DifferingParts(cluster, based_on));
  }
  RETURN_IF_ERROR(Validate(cluster));
  cluster.name = EscapeControls(cluster.name);
  cluster.device.name = EscapeControls(cluster.device.name);
  return cluster;
}

absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view json, int32_t host_cores) {
  return ClusterFromJson(json, host_cores,
                         [](std::string_view name) -> absl::StatusOr<std::string> {
                           ASSIGN_OR_RETURN(const std::string_view text, ClusterText(name));
                           return std::string(text);
                         });
}

absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view text, FindText find_base) {
  ASSIGN_OR_RETURN(nlohmann::json own, ParseJsonObject("framework", text));
  ASSIGN_OR_RETURN(const nlohmann::json object, OnItsBase("framework", std::move(own), find_base));
  FrameworkProfile profile;
  RETURN_IF_ERROR(ReadJson("framework", object, UnknownKeys::kRefuse, profile));
  RETURN_IF_ERROR(Validate(profile));
  profile.name = EscapeControls(profile.name);
  return profile;
}

absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view json) {
  return ProfileFromJson(json, [](std::string_view name) -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(const std::string_view text, ProfileText(name));
    return std::string(text);
  });
}

std::string ClusterToJson(const ClusterSpec& cluster) { return WriteOrderedJson(cluster).dump(2); }

std::string ProfileToJson(const FrameworkProfile& profile) {
  return WriteOrderedJson(profile).dump(2);
}

absl::StatusOr<ModelSpec> FindModel(std::string_view name) {
  const auto text = ModelText(name);
  if (!text.ok()) return text.status();
  // The model keeps all of its windows, because a window that is longer than the sequence changes
  // nothing.
  return ModelFromConfig(name, *text, std::numeric_limits<int64_t>::max());
}

absl::StatusOr<ClusterSpec> FindCluster(std::string_view name, int32_t host_cores) {
  if (IsInClusterWords(name)) {
    ASSIGN_OR_RETURN(const nlohmann::json words, ClusterInWords(name));
    return ClusterFromJson(words.dump(), host_cores);
  }
  const auto text = ClusterText(name);
  if (!text.ok()) return text.status();
  return ClusterFromJson(*text, host_cores);
}

absl::StatusOr<FrameworkProfile> FindProfile(std::string_view name) {
  const auto text = ProfileText(name);
  if (!text.ok()) return text.status();
  return ProfileFromJson(*text);
}

}  // namespace meshwright::planner
