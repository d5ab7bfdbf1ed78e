// KeyRule says which values of some keys of a config.json are accepted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"

namespace meshwright::planner {

// Returns whether the value switches its key off: null, false, 0, "none", or anything empty.
bool IsOff(const nlohmann::json& value);

// Returns the text that a message shows for the value: shortened, and empty for a list or an
// object.
std::string ShownValue(const nlohmann::json& value);

// Returns the beginning of a text as a message shows it, cut at the end of a UTF-8 character.
std::string ShortenedName(std::string_view text);

// If `one_of` lists values, a boolean is accepted only if it is one of them. Any other value that
// switches its key off is accepted. For the remaining values, the first of the following members
// that is set decides.
struct KeyRule {
  std::vector<std::string> keys;
  bool is_scalar = false;                  // accepts anything but a list or an object
  std::optional<double> at_most = {};      // a number that is at most this
  std::vector<nlohmann::json> items = {};  // a list of these values
  std::string same_as = {};                // the value of this key of the same config
  std::vector<nlohmann::json> one_of = {};

  bool Allows(const nlohmann::json& config, const nlohmann::json& value) const;
  // Returns the first key whose value in `config` is not accepted; "" if all values are accepted.
  std::string BrokenKey(const nlohmann::json& config) const;
  // Returns in words which values are accepted.
  std::string Accepted() const;
};

KeyRule ReadKeyRule(const nlohmann::json& rule);

}  // namespace meshwright::planner
