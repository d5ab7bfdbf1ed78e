#include "planner/interchange/framework.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"

namespace meshwright::planner {

const std::vector<const Framework*>& Frameworks() {
  static const std::vector<const Framework*> frameworks = {
      &MegatronFramework(),   &BridgeFramework(),    &TorchtitanFramework(),
      &AccelerateFramework(), &DeepspeedFramework(), &LlamaFactoryFramework(),
      &AxolotlFramework(),    &SwiftFramework(),     &VerlFramework(),
      &AutomodelFramework(),  &NanotronFramework()};
  return frameworks;
}

bool WritesSetting(const Framework& framework, std::string_view setting) {
  for (size_t i = 0; i < framework.written; ++i) {
    for (const NameRow& row : framework.tables[i]) {
      if (row.use != NameUse::kImport && row.setting == setting) return true;
    }
  }
  return false;
}

absl::StatusOr<const Framework*> FindFramework(std::string_view flag, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Framework* framework : Frameworks()) {
    if (framework->name == name) return framework;
    names.push_back(framework->name);
  }
  return FieldError(flag, name, absl::StrCat("must be ", ListInWords(names, "or")));
}

}  // namespace meshwright::planner
