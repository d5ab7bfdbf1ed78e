#include "planner/catalog/based_on.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr const char* kKey = "based_on";

// A reader of a file opens each of its bases to know what holds.
constexpr size_t kMostBases = 8;

// The keys that name the base in measurement files.
constexpr const char* kNamesOfTheBase[] = {"aliases", "notes_contain", "rows", "gpu_names"};

absl::Status BaseError(std::string_view name, std::string_view problem) {
  return FieldError(kKey, name, std::string(problem));
}

// Takes the base's name out of a file that has one.
absl::StatusOr<std::string> TakeBaseName(json& object) {
  const json named = object[kKey];
  object.erase(kKey);
  if (named.is_string()) return std::string(named);
  return BaseError(named.dump(), "must be the name of a preset");
}

// Refuses a chain of presets that goes round, or that nobody could follow.
absl::Status CheckNextBase(const std::vector<std::string>& bases, const std::string& next) {
  const auto again = std::find(bases.begin(), bases.end(), next);
  if (again != bases.end()) {
    const std::string between = absl::StrJoin(again + 1, bases.end(), ", ");
    return BaseError(
        next, absl::StrCat("is based on itself", between.empty() ? "" : " through " + between,
                           "; must lead to a preset that stands by itself"));
  }
  if (bases.size() == kMostBases) {
    return BaseError(
        next, absl::StrCat("is the last of a chain of presets, each based on the next: ",
                           absl::StrJoin(bases, ", "), "; must have at most ", kMostBases - 1,
                           " presets before it"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<json> OnItsBase(std::string_view what, json object, FindText find_base) {
  std::vector<std::string> bases;
  std::vector<json> files;  // the file, what it is based on, what that is based on …
  files.push_back(std::move(object));
  while (files.back().contains(kKey)) {
    ASSIGN_OR_RETURN(const std::string name, TakeBaseName(files.back()));
    RETURN_IF_ERROR(CheckNextBase(bases, name));
    const absl::StatusOr<std::string> text = find_base(name);
    if (!text.ok()) return WithField(text.status(), kKey);
    ASSIGN_OR_RETURN(json base, ParseJsonObject(what, *text));
    for (const char* key : kNamesOfTheBase) base.erase(key);
    bases.push_back(name);
    files.push_back(std::move(base));
  }
  json merged = std::move(files.back());
  for (size_t i = files.size() - 1; i-- > 0;) merged.merge_patch(files[i]);
  return merged;
}

std::string BaseNameIn(std::string_view text) {
  const absl::StatusOr<json> object = ParseJsonObject("preset", text);
  if (!object.ok()) return "";
  return JsonFields(*object).StringOr(kKey, "");
}

}  // namespace meshwright::planner
