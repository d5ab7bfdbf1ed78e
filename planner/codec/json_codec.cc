#include "planner/codec/json_codec.h"

namespace meshwright::planner {

const nlohmann::json* JsonReader::Find(const Field& field) {
  if (from_.is_array()) {
    // Every field of a list is needed.
    const size_t index = next_++;
    if (index < from_.size()) return &from_[index];
    problem_.Absent(FieldPath(path_, index));
    return nullptr;
  }
  asked_.emplace_back(field.name);
  const auto found = from_.find(std::string(field.name));
  if (found != from_.end() && !found->is_null()) return &*found;
  if (field.needed) problem_.Absent(FieldPath(path_, field.name));
  return nullptr;
}

}  // namespace meshwright::planner
