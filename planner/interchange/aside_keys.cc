#include "planner/interchange/aside_keys.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"

namespace meshwright::planner {
namespace {

std::string_view LastName(std::string_view key) { return key.substr(key.rfind('.') + 1); }

// A key without a row is refused.
KeyUse UseOf(const SetAsideKey& key, KeyUser target) {
  const KeyRow* row = FindConfigKey(key.key);
  return row == nullptr ? KeyUse{.effect = KeyEffect::kRefuses} : row->For(target);
}

}  // namespace

std::vector<SetAsideKey> RefusedKeys(const ModelSpec& model, KeyUser target) {
  std::vector<SetAsideKey> refused;
  for (const SetAsideKey& key : model.set_aside) {
    if (UseOf(key, target).effect == KeyEffect::kRefuses) refused.push_back(key);
  }
  return refused;
}

const SetAsideKey* AsideKeys::Take(std::string_view name) {
  for (const SetAsideKey& key : model_.set_aside) {
    if (LastName(key.key) != name) continue;
    said_.insert(&key);
    return &key;
  }
  return nullptr;
}

std::vector<std::string> AsideKeys::Flags() const {
  std::vector<std::string> flags;
  for (const SetAsideKey& key : model_.set_aside) {
    const KeyUse use = UseOf(key, target_);
    if (use.effect != KeyEffect::kFlags) continue;
    flags.push_back(absl::StrReplaceAll(use.text, {{"$0", key.value}}));
  }
  return flags;
}

absl::Status AsideKeys::CheckSaid(std::string_view lacks) const {
  for (const SetAsideKey& key : model_.set_aside) {
    const KeyEffect effect = UseOf(key, target_).effect;
    const bool must = effect == KeyEffect::kWrites || effect == KeyEffect::kRefuses;
    if (!must || said_.contains(&key)) continue;
    return FieldError(key.key, key.value, absl::StrCat(std::string(lacks), " it; must be absent"));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::planner
