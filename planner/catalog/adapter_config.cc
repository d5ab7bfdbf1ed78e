#include "planner/catalog/adapter_config.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/python_json.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/trained_parts.h"

namespace meshwright::planner {
namespace {

constexpr size_t kMostNameBytes = 200;

bool IsLora(const AdapterConfig& adapter) { return adapter.kind.empty() || adapter.kind == "LORA"; }

// Modules of families that fuse several modules of other families into one.
struct FusedModule {
  std::string_view name;
  std::string_view targets;
};
constexpr std::array<FusedModule, 4> kFusedModules = {{
    {"qkv_proj", "q_proj,k_proj,v_proj"},
    {"query_key_value", "q_proj,k_proj,v_proj"},
    {"gate_up_proj", "gate_proj,up_proj"},
    {"dense", "o_proj"},
}};

std::string TargetOf(const std::string& module) {
  for (const FusedModule& fused : kFusedModules) {
    if (fused.name == module) return std::string(fused.targets);
  }
  return module;
}

std::string Shown(std::string_view text) { return EscapeControls(ShortText(text, kMostNameBytes)); }

}  // namespace

bool IsAdapter(std::string_view text) {
  const absl::StatusOr<nlohmann::json> object = ParsePythonJsonObject("model", text);
  return object.ok() && object->contains("base_model_name_or_path") &&
         !object->contains("hidden_size");
}

absl::StatusOr<AdapterConfig> ReadAdapterConfig(std::string_view text) {
  ASSIGN_OR_RETURN(const nlohmann::json object, ParsePythonJsonObject("model", text));
  JsonFields fields(object);
  AdapterConfig adapter;
  adapter.base = fields.StringOr("base_model_name_or_path", "");
  adapter.kind = fields.StringOr("peft_type", "");
  adapter.rank = fields.IntOr("r", 0);
  adapter.has_magnitudes = fields.BoolOr("use_dora", false);
  // Reads a list of modules, or one word that stands for all modules of a kind.
  const auto targets = object.find("target_modules");
  if (targets != object.end() && targets->is_string()) {
    adapter.targets = {fields.String("target_modules")};
  } else {
    adapter.targets = fields.StringsOr("target_modules");
  }
  RETURN_IF_ERROR(fields.status());
  if (adapter.base.empty()) {
    return FieldError("base_model_name_or_path", "",
                      "must name the model that the adapter is for: its folder or its Hub id");
  }
  return adapter;
}

std::string TrainTextOf(const AdapterConfig& adapter) {
  if (!IsLora(adapter) || adapter.rank == 0) return "";
  std::string text = absl::StrCat(adapter.has_magnitudes ? "dora:" : "lora:", adapter.rank);
  std::vector<std::string> targets;
  for (const std::string& module : adapter.targets) targets.push_back(TargetOf(module));
  if (!targets.empty()) absl::StrAppend(&text, ":", absl::StrJoin(targets, ","));
  const absl::StatusOr<TrainedParts> parts = ParseTrainedParts(text);
  return parts.ok() ? TrainedPartsText(*parts) : "";
}

std::string NoteOn(const AdapterConfig& adapter) {
  std::string what = IsLora(adapter) ? "LoRA" : Shown(adapter.kind);
  if (adapter.rank > 0) absl::StrAppend(&what, " of rank ", adapter.rank);
  if (!adapter.targets.empty()) {
    absl::StrAppend(&what, " on ", Shown(ListInWords(adapter.targets, "and")));
  }
  if (const std::string train = TrainTextOf(adapter); !train.empty()) {
    return absl::StrCat("planned as the base model ", Shown(adapter.base), " with the adapter (",
                        what, ") as --train ", train, "; --train overrides this");
  }
  return absl::StrCat("planned as the base model ", Shown(adapter.base),
                      " with all weights trained; the adapter (", what, ") is not planned yet");
}

}  // namespace meshwright::planner
