#include "planner/interchange/adapter_settings.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

constexpr char kAllLinearText[] = "all-linear";

std::string TargetsText(AdapterTargets targets) {
  if (targets == kAllLinear) return kAllLinearText;
  std::vector<std::string> names;
  for (const AdapterTarget target :
       {AdapterTarget::kQuery, AdapterTarget::kKey, AdapterTarget::kValue, AdapterTarget::kOutput,
        AdapterTarget::kGate, AdapterTarget::kUp, AdapterTarget::kDown}) {
    if (targets.Has(target)) names.emplace_back(AdapterTargetName(target));
  }
  return absl::StrJoin(names, " ");
}

absl::Status Refuse(const TrainedParts& parts, std::string_view problem) {
  return FieldError("train", TrainedPartsText(parts),
                    absl::StrCat(AbslView(problem), ", and estimate and recommend plan it"));
}

}  // namespace

void SetAdapter(const Adapter& adapter, Settings& settings) {
  if (!adapter.exists()) return;
  settings.Set("uses_adapter", 1);
  settings.Set("adapter", adapter.four_bit_base ? "qlora" : "lora");
  settings.Set("adapter_rank", adapter.rank);
  settings.Set("adapter_targets", TargetsText(adapter.targets));
  if (adapter.kind == AdapterKind::kDora) settings.Set("adapter_dora", 1);
  if (adapter.four_bit_base) settings.Set("base_4bit", 1);
}

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

void ResolveAdapter(Settings& settings) {
  const std::string kind = settings.TextOf("adapter", "full");
  if (kind == "full" && !settings.IsOn("uses_adapter")) return;
  const bool has_four_bits = kind == "qlora" || settings.IsOn("base_4bit");
  std::string text = has_four_bits ? "qlora" : settings.IsOn("adapter_dora") ? "dora" : "lora";
  absl::StrAppend(&text, ":", settings.TextOf("adapter_rank", absl::StrCat(Adapter::kDefaultRank)));
  const std::string targets = settings.TextOf("adapter_targets", kAllLinearText);
  if (targets != kAllLinearText) {
    // A list in any syntax: blanks, commas, brackets or quotes.
    absl::StrAppend(
        &text, ":",
        absl::StrJoin(absl::StrSplit(targets, absl::ByAnyChar(" ,[]'\""), absl::SkipEmpty()), ","));
  }
  settings.Set("train", text);
}

}  // namespace meshwright::planner
