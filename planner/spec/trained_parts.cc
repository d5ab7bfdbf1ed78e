#include "planner/spec/trained_parts.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/enum_names.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

constexpr int32_t kMostRank = 4096;
constexpr int64_t kMostLayers = int64_t{1} << 20;
constexpr std::string_view kAllLinearName = "all-linear";

constexpr EnumNames<AdapterTarget, 8> kTargetNames = {{
    {AdapterTarget::kQuery, "q_proj"},
    {AdapterTarget::kKey, "k_proj"},
    {AdapterTarget::kValue, "v_proj"},
    {AdapterTarget::kOutput, "o_proj"},
    {AdapterTarget::kGate, "gate_proj"},
    {AdapterTarget::kUp, "up_proj"},
    {AdapterTarget::kDown, "down_proj"},
    {AdapterTarget::kExperts, "experts"},
}};

struct AdapterForm {
  std::string_view name;
  AdapterKind kind;
  bool four_bit_base;
};
constexpr std::array<AdapterForm, 3> kForms = {{
    {"lora", AdapterKind::kLora, false},
    {"qlora", AdapterKind::kLora, true},
    {"dora", AdapterKind::kDora, false},
}};

absl::Status TrainError(std::string_view value) {
  return FieldError(
      "train", value,
      absl::StrCat("must be full, lora:RANK, qlora:RANK or dora:RANK with RANK from 1 to ",
                   kMostRank,
                   ", each with :TARGETS from q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, "
                   "down_proj, all-linear and experts behind it or not, or frozen:PARTS from "
                   "tower, embedding and layers=A..B, such as lora:16:q_proj,v_proj or "
                   "frozen:tower,layers=0..15"));
}

std::string TargetsText(const AdapterTargets& targets) {
  std::vector<std::string> names;
  AdapterTargets rest = targets;
  if (targets.And(kAllLinear) == kAllLinear) {
    names.emplace_back(kAllLinearName);
    rest = targets.Without(kAllLinear);
  }
  rest.ForEach([&](AdapterTarget target) { names.emplace_back(AdapterTargetName(target)); });
  return absl::StrJoin(names, ",");
}

bool ReadTargets(absl::string_view text, AdapterTargets& targets) {
  for (const absl::string_view entry : absl::StrSplit(text, ',')) {
    const std::string_view name = StdView(entry);
    AdapterTargets named = name == kAllLinearName ? kAllLinear : AdapterTargets();
    for (const auto& [target, known] : kTargetNames) {
      if (known == name) named.Add(target);
    }
    if (named.empty()) return false;
    targets = targets.With(named);
  }
  return true;
}

bool ReadRank(absl::string_view text, int32_t& rank) {
  return absl::SimpleAtoi(text, &rank) && rank >= 1 && rank <= kMostRank;
}

// Reads the text after the name of an adapter's form: nothing, ":RANK" or ":RANK:TARGETS".
bool ReadAdapter(absl::string_view text, Adapter& adapter) {
  adapter.rank = Adapter::kDefaultRank;
  adapter.targets = kAllLinear;
  if (text.empty()) return true;
  if (!absl::ConsumePrefix(&text, ":")) return false;
  const std::vector<absl::string_view> halves = absl::StrSplit(text, absl::MaxSplits(':', 1));
  if (!ReadRank(halves[0], adapter.rank)) return false;
  if (halves.size() == 1) return true;
  adapter.targets = {};
  return ReadTargets(halves[1], adapter.targets);
}

bool ReadLayers(absl::string_view text, TrainedParts& parts) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, absl::MaxSplits("..", 1));
  int64_t last = 0;
  if (parts.freezes_layers() || !absl::SimpleAtoi(ends.front(), &parts.first_frozen) ||
      !absl::SimpleAtoi(ends.back(), &last)) {
    return false;
  }
  parts.end_frozen = last + 1;
  return parts.first_frozen >= 0 && parts.first_frozen <= last && last < kMostLayers;
}

bool ReadFrozen(absl::string_view text, TrainedParts& parts) {
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    if (entry == "tower") {
      parts.freezes_towers = true;
    } else if (entry == "embedding") {
      parts.freezes_embedding = true;
    } else if (!absl::ConsumePrefix(&entry, "layers=") || !ReadLayers(entry, parts)) {
      return false;
    }
  }
  return true;
}

std::string AdapterText(const Adapter& adapter) {
  for (const AdapterForm& form : kForms) {
    if (form.kind != adapter.kind || form.four_bit_base != adapter.four_bit_base) continue;
    const std::string text = absl::StrCat(AbslView(form.name), ":", adapter.rank);
    if (adapter.targets == kAllLinear) return text;
    return absl::StrCat(text, ":", TargetsText(adapter.targets));
  }
  return "";
}

}  // namespace

UnitTraining TrainedParts::OfTowers() const {
  return adapter.exists() || freezes_towers ? UnitTraining::kWithoutBackward
                                            : UnitTraining::kTrained;
}

UnitTraining TrainedParts::OfProjector() const {
  return adapter.exists() ? UnitTraining::kWithoutBackward : UnitTraining::kTrained;
}

UnitTraining TrainedParts::OfEmbedding() const {
  return adapter.exists() || freezes_embedding ? UnitTraining::kWithoutBackward
                                               : UnitTraining::kTrained;
}

UnitTraining TrainedParts::OfLayer(int64_t layer, bool has_towers) const {
  if (adapter.exists()) return UnitTraining::kFrozen;
  if (layer < first_frozen || layer >= end_frozen) return UnitTraining::kTrained;
  const bool trains_before = first_frozen > 0 || OfEmbedding() == UnitTraining::kTrained ||
                             (has_towers && OfProjector() == UnitTraining::kTrained);
  return trains_before ? UnitTraining::kFrozen : UnitTraining::kWithoutBackward;
}

UnitTraining TrainedParts::OfHead() const {
  return adapter.exists() ? UnitTraining::kFrozen : UnitTraining::kTrained;
}

std::string TrainedPartsText(const TrainedParts& parts) {
  if (parts.all()) return "full";
  if (parts.adapter.exists()) return AdapterText(parts.adapter);
  std::vector<std::string> frozen;
  if (parts.freezes_towers) frozen.push_back("tower");
  if (parts.freezes_embedding) frozen.push_back("embedding");
  if (parts.freezes_layers()) {
    frozen.push_back(absl::StrCat("layers=", parts.first_frozen, "..", parts.end_frozen - 1));
  }
  return absl::StrCat("frozen:", absl::StrJoin(frozen, ","));
}

absl::StatusOr<TrainedParts> ParseTrainedParts(std::string_view text) {
  TrainedParts parts;
  if (text == "full") return parts;
  absl::string_view rest = AbslView(text);
  if (absl::ConsumePrefix(&rest, "frozen:")) {
    if (!ReadFrozen(rest, parts)) return TrainError(text);
    return parts;
  }
  for (const AdapterForm& form : kForms) {
    rest = AbslView(text);
    if (!absl::ConsumePrefix(&rest, AbslView(form.name))) continue;
    parts.adapter.kind = form.kind;
    parts.adapter.four_bit_base = form.four_bit_base;
    if (ReadAdapter(rest, parts.adapter)) return parts;
    break;
  }
  return TrainError(text);
}

std::string_view AdapterTargetName(AdapterTarget target) { return NameOf(kTargetNames, target); }

}  // namespace meshwright::planner
