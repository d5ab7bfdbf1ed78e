#include "planner/catalog/adapter_config.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/python_json.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {
namespace {

constexpr size_t kMostNameBytes = 200;

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
  // A list of modules, or one word for all of a kind.
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

std::string NoteOn(const AdapterConfig& adapter) {
  const bool is_lora = adapter.kind.empty() || adapter.kind == "LORA";
  std::string what = is_lora ? "LoRA" : Shown(adapter.kind);
  if (adapter.rank > 0) absl::StrAppend(&what, " of rank ", adapter.rank);
  if (!adapter.targets.empty()) {
    absl::StrAppend(&what, " on ", Shown(ListInWords(adapter.targets, "and")));
  }
  return absl::StrCat("planned as the base model ", Shown(adapter.base),
                      " with all weights trained; the adapter (", what, ") is not planned yet");
}

}  // namespace meshwright::planner
