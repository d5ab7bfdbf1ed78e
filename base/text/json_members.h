// Finds and sets the members of an object's JSON text without parsing their values: for texts that
// this project wrote and that many calls need with one more member, such as the plan of a trial.
//
// The text must be an object in nlohmann::json's compact form, its keys in order and without
// escapes. In any other text nothing is found or set.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meshwright {

// Returns the text of the member's value; nullopt where there is no such member.
std::optional<std::string_view> FindMember(std::string_view object, std::string_view key);

// Returns `object` with the member of that key, replaced or inserted in order. `value` is JSON
// text.
std::optional<std::string> WithMember(std::string_view object, std::string_view key,
                                      std::string_view value);

}  // namespace meshwright
