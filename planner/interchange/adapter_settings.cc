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
