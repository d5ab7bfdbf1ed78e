// AsideKeys are the keys of a model's config.json that no member of ModelSpec holds
// (ModelSpec::set_aside), as seen by one export. The export must write each of them or refuse it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "planner/catalog/config_keys.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns the model's keys that the export never writes, whatever else the model has.
std::vector<SetAsideKey> RefusedKeys(const ModelSpec& model, KeyUser target);

class AsideKeys {
 public:
  AsideKeys(const ModelSpec& model, KeyUser target) : model_(model), target_(target) {}

  // Returns the key whose last name is `name`, and counts it as written; null if there is none.
  const SetAsideKey* Take(std::string_view name);
  // Returns the flags of all keys for which the table of keys gives flags.
  std::vector<std::string> Flags() const;
  // Returns InvalidArgument about the first key that has an effect but was not written.
  absl::Status CheckSaid(std::string_view lacks) const;

 private:
  const ModelSpec& model_;
  KeyUser target_;
  std::set<const SetAsideKey*> said_;
};

}  // namespace meshwright::planner
