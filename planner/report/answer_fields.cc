#include "planner/report/answer_fields.h"

#include "planner/codec/json_codec.h"

namespace meshwright::planner {

nlohmann::ordered_json ToJson(const UserLayoutReport& report) { return WriteOrderedJson(report); }

nlohmann::ordered_json ToJson(const Ties& ties) { return WriteOrderedJson(ties); }
nlohmann::ordered_json ToJson(const SearchProgress& progress) { return WriteOrderedJson(progress); }

nlohmann::ordered_json ToJson(const RestsOn& rests_on) { return WriteOrderedJson(rests_on); }

}  // namespace meshwright::planner
