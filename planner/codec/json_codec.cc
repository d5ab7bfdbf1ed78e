#include "planner/codec/json_codec.h"

namespace meshwright::planner {

const nlohmann::json* JsonReader::Lookup(const Field& field) {
  if (from_.is_array()) {
    // Every field of a list is needed.
    const size_t index = next_++;
    if (index < from_.size()) return &from_[index];
    problem_.Absent(FieldPath(path_, index));
    return nullptr;
  }
  asked_.emplace_back(field.name);
  const auto found = from_.find(std::string(field.name));
  return found == from_.end() || found->is_null() ? nullptr : &*found;
}

void JsonReader::NoteAbsent(const Field& field, const std::vector<std::string>& inside) {
  if (from_.is_array()) return;  // Lookup() did
  const FieldPath path(path_, field.name);
  if (inside.empty()) problem_.Absent(path);
  for (const std::string& key : inside) problem_.Absent(FieldPath(path, key));
}

const nlohmann::json* JsonReader::Find(const Field& field) {
  const nlohmann::json* found = Lookup(field);
  if (found == nullptr && field.needed) NoteAbsent(field, {});
  return found;
}

}  // namespace meshwright::planner
