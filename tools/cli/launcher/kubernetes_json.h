// At() and TextAt() read members of Kubernetes objects, any of which may be absent.
#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace meshwright::cli {

// Returns the value at the end of the keys, or null if one of them is absent.
template <typename... Keys>
const nlohmann::json& At(const nlohmann::json& value, const Keys&... keys) {
  static const nlohmann::json* const nothing = new nlohmann::json();
  const nlohmann::json* here = &value;
  for (const char* key : {keys...}) {
    if (!here->is_object() || !here->contains(key)) return *nothing;
    here = &here->at(key);
  }
  return *here;
}

// Returns the text at the end of the keys, or an empty text if there is none.
template <typename... Keys>
std::string TextAt(const nlohmann::json& value, const Keys&... keys) {
  const nlohmann::json& found = At(value, keys...);
  return found.is_string() ? found.get<std::string>() : "";
}

}  // namespace meshwright::cli
