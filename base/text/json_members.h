// Finds and sets the members of an object's JSON text without parsing their values. This is for
// texts that this project wrote and that many calls need with one more member, such as the plan of
// a trial.
//
// REQUIRES: the text is an object in nlohmann::json's compact form, with its keys in order and
// without escapes. Text that can't be divided into members yields nullopt.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meshwright {

// Returns the text of the member's value, or nullopt if there is no such member.
std::optional<std::string_view> FindMember(std::string_view object, std::string_view key);

// Returns `object` with the member `key` set to `value`, which is JSON text. A new member is
// inserted in the order of the keys.
std::optional<std::string> WithMember(std::string_view object, std::string_view key,
                                      std::string_view value);

}  // namespace meshwright
