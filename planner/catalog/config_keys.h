// ConfigKeys is the list of all keys of a config.json that the planner knows
// (planner/data/config_keys.json). A row says what an estimate, a trial and each export do with the
// row's keys. None of them may drop a key that changes the model.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "planner/catalog/key_rule.h"

namespace meshwright::planner {

enum class KeyUser : uint8_t { kEstimate, kTrial, kMegatron, kTorchtitan };
inline constexpr size_t kKeyUsers = 4;

enum class KeyEffect : uint8_t {
  kNothing,  // the key changes nothing here
  kNotes,    // an estimate has a note that it ignores the key
  kCounts,   // a member of ModelSpec holds the value
  kRuns,     // a trial runs the model as the key says
  kWrites,   // an export's own code writes the key or refuses its value
  kFlags,    // an export writes these flags, in which $0 is the value
  kRefuses,  // a model with the key is refused, and the refusal names the key
  kWith,     // the key occurs only in models that are refused for another key
};

struct KeyUse {
  KeyEffect effect = KeyEffect::kNothing;
  std::string text = {};  // the flags, or the other key
};

struct KeyRow {
  KeyRule rule;  // the row's keys; values that the rule allows change nothing
  // For each key a value that changes the model; null if there is none.
  std::vector<nlohmann::json> examples;
  std::string of;                       // the model_type of the examples' config
  std::optional<int64_t> beyond = {};   // up to this many tokens, the key changes nothing
  std::vector<std::string> parts = {};  // model parts that these keys ask for
  bool of_families = false;             // only listed families give the key this meaning
  bool is_spare = false;                // files have the key, but no program reads it
  std::array<KeyUse, kKeyUsers> uses;

  const KeyUse& For(KeyUser user) const { return uses[static_cast<size_t>(user)]; }
  // Returns whether ModelSpec::set_aside holds the key, because exports need it.
  bool IsSetAside() const;
};

const std::vector<KeyRow>& ConfigKeys();

// Returns the row of a key. If `key` is another name of a key, returns the row of that key. A key
// of an inner object, such as "rope_scaling.factor", is found by its last name. Returns null if
// there is no row.
const KeyRow* FindConfigKey(std::string_view key);

}  // namespace meshwright::planner
