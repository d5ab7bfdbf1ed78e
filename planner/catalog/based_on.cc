#include "planner/catalog/based_on.h"

#include <utility>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr const char* kKey = "based_on";

// The keys that name the base in measurement files.
constexpr const char* kNamesOfTheBase[] = {"aliases", "notes_contain", "gpu_names"};

absl::Status BaseError(std::string_view name, std::string_view problem) {
  return FieldError(kKey, name, std::string(problem));
}

}  // namespace

absl::StatusOr<json> OnItsBase(std::string_view what, json object, FindText find_base) {
  const auto based_on = object.find(kKey);
  if (based_on == object.end()) return object;
  if (!based_on->is_string()) {
    return BaseError(based_on->dump(), "must be the name of a preset");
  }
  const std::string name = *based_on;
  const absl::StatusOr<std::string> text = find_base(name);
  if (!text.ok()) return WithField(text.status(), kKey);
  ASSIGN_OR_RETURN(json base, ParseJsonObject(what, *text));
  if (base.contains(kKey)) {
    return BaseError(name, "is based on another preset; must be one that stands by itself");
  }
  for (const char* key : kNamesOfTheBase) base.erase(key);
  object.erase(based_on);
  base.merge_patch(object);
  return base;
}

}  // namespace meshwright::planner
