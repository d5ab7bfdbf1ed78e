#include "planner/interchange/trained_check.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

absl::Status Refuse(const TrainedParts& parts, std::string_view problem) {
  return FieldError("train", TrainedPartsText(parts),
                    absl::StrCat(AbslView(problem), ", and estimate and recommend plan it"));
}

}  // namespace

absl::Status CheckTrained(const Framework& framework, const TrainedParts& parts) {
  if (parts.all()) return absl::OkStatus();
  const std::string lacks(framework.lacks);
  const Adapter& adapter = parts.adapter;
  if (!WritesSetting(framework, "adapter_rank")) {
    return Refuse(parts, lacks + " adapters and frozen weights; must be full");
  }
  if (!adapter.exists()) {
    return Refuse(parts, lacks + " frozen weights; must be full or lora:RANK");
  }
  const bool is_named =
      adapter.targets == kAllLinear || !(adapter.targets.Has(AdapterTarget::kExperts) ||
                                         adapter.targets.Has(AdapterTarget::kOtherLinear));
  if (!is_named) {
    return Refuse(parts, lacks +
                             " adapters on these products; must be on all-linear or on "
                             "projections by name");
  }
  if (adapter.kind == AdapterKind::kDora && !WritesSetting(framework, "adapter_dora")) {
    return Refuse(parts, lacks + " dora; must be lora:RANK");
  }
  if (adapter.four_bit_base && !WritesSetting(framework, "base_4bit")) {
    return Refuse(parts, lacks + " a base of 4 bits; must be lora:RANK");
  }
  return absl::OkStatus();
}

}  // namespace meshwright::planner
