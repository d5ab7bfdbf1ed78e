// The members of an object's JSON text, found and set without reading their values: for texts that
// this project wrote and that many calls need with a member more, such as the plan of a trial.
//
// The text is an object in nlohmann::json's compact form, its keys in order and without escapes. Of
// any other text nothing is found, and none is made.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meshwright {

// The text of the member's value; nothing where there is no such member.
std::optional<std::string_view> FindMember(std::string_view object, std::string_view key);

// `object` with the member of that key, in the place of one that it had or where its key belongs.
// `value` is JSON text.
std::optional<std::string> WithMember(std::string_view object, std::string_view key,
                                      std::string_view value);

}  // namespace meshwright
