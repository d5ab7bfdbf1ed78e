// FindMember() and WithMember() read and set a member of an object's JSON text without parsing it.
// They are for texts that this project wrote and that it often sends with one member added, such as
// a trial's plan.
//
// REQUIRES: the text is an object in nlohmann::json's compact form, with its keys in order and
// without escapes. The functions return nullopt for text that can't be divided into members.
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
