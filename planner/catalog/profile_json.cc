#include <utility>

#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/profile_fields.h"
#include "planner/codec/json_codec.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {

absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view text, FindText find_base) {
  ASSIGN_OR_RETURN(nlohmann::json own, ParseJsonObject("framework", text));
  ASSIGN_OR_RETURN(const nlohmann::json object, OnItsBase("framework", std::move(own), find_base));
  FrameworkProfile profile;
  RETURN_IF_ERROR(ReadJson("framework", object, UnknownKeys::kRefuse, profile));
  RETURN_IF_ERROR(Validate(profile));
  return profile;
}

std::string ProfileToJson(const FrameworkProfile& profile) {
  return WriteOrderedJson(profile).dump(2);
}

}  // namespace meshwright::planner
