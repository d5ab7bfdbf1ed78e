#include "planner/catalog/spec_kind.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/text/string_view.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/cluster_names.h"
#include "planner/catalog/profile_names.h"
#include "planner/catalog/python_json.h"

namespace meshwright::planner {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"model", "cluster", "framework"};

// Keys that only files of one kind have.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kTellingKeys = {{
    {"model_type", "model"},
    {"hidden_size", "model"},
    {"architectures", "model"},
    {"text_config", "model"},
    {"n_layers", "model"},                 // params.json
    {"base_model_name_or_path", "model"},  // adapter_config.json
    {"devices_per_node", "cluster"},
    {"scale_up", "cluster"},
    {"gradient_bytes", "framework"},
    {"optimizer_bytes", "framework"},
}};

}  // namespace

std::string_view KindOfText(std::string_view text) {
  const absl::StatusOr<nlohmann::json> object = ParsePythonJsonObject("text", text);
  if (!object.ok()) return "";
  for (const auto& [key, kind] : kTellingKeys) {
    if (object->contains(std::string(key))) return kind;
  }
  return "";
}

std::string_view KindOfPreset(std::string_view name) {
  for (const std::string_view kind : kKinds) {
    const std::vector<std::string> names = PresetsOf(kind);
    if (std::find(names.begin(), names.end(), name) != names.end()) return kind;
  }
  return "";
}

std::string PresetNamed(std::string_view kind, std::string_view name) {
  for (const std::string& preset : PresetsOf(kind)) {
    if (absl::EqualsIgnoreCase(preset, AbslView(name))) return preset;
  }
  if (kind == "cluster") return ClusterNamed(name);
  return kind == "framework" ? ProfileNamed(name) : "";
}

std::vector<std::string> PresetsOf(std::string_view kind) {
  if (kind == "model") return ModelNames();
  if (kind == "cluster") return ClusterNames();
  if (kind == "framework") return ProfileNames();
  return {};
}

}  // namespace meshwright::planner
