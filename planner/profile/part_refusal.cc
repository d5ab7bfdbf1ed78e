#include "planner/profile/part_refusal.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"

namespace meshwright::planner {
namespace {

// So that a refusal fits into five lines of 80 columns.
constexpr size_t kMostNamedBytes = 220;

// A key with the parts that it asks for.
struct Asked {
  std::string key;
  std::string value;
  std::vector<std::string> parts;

  std::string Words() const {
    return parts.empty() ? "" : absl::StrCat(" (", absl::StrJoin(parts, ", "), ")");
  }
  std::string Text() const { return value.empty() ? key : absl::StrCat(key, " = ", value); }
};

std::string InWords(const ModelSpec& model, const std::string& part) {
  if (part != kFfnPart) return absl::StrReplaceAll(part, {{"_", " "}});
  return absl::StrCat(std::string(NameOf(kFfnKindNames, model.FirstFfn().kind)), " FFN");
}

PartKey KeyOf(const ModelSpec& model, const std::string& part) {
  for (const PartKey& key : model.file.of_parts) {
    if (key.part == part) return key;
  }
  if (model.file.model_type.empty()) return {part, "model", model.name};
  return {part, "model_type", model.file.model_type};
}

std::vector<Asked> KeysOf(const ModelSpec& model, const std::vector<std::string>& parts) {
  std::vector<Asked> asked;
  for (const std::string& part : parts) {
    const PartKey key = KeyOf(model, part);
    const auto known = std::find_if(asked.begin(), asked.end(),
                                    [&](const Asked& other) { return other.key == key.key; });
    if (known != asked.end()) {
      known->parts.push_back(InWords(model, part));
    } else {
      asked.push_back({key.key, key.value, {InWords(model, part)}});
    }
  }
  return asked;
}

std::string NamesOfOthers(const std::vector<Asked>& asked, bool with_words) {
  std::vector<std::string> names;
  for (size_t i = 1; i < asked.size(); ++i) {
    names.push_back(with_words ? absl::StrCat(asked[i].Text(), asked[i].Words()) : asked[i].Text());
  }
  return ListInWords(names, "and");
}

}  // namespace

std::vector<std::string> PartNames(const EnumSet<ModelPart>& parts) {
  std::vector<std::string> names;
  parts.ForEach([&](ModelPart part) { names.emplace_back(ModelPartName(part)); });
  return names;
}

std::vector<std::string> LackingParts(const ModelSpec& model, const KernelSupport& has) {
  std::vector<std::string> lacking;
  if (!has.parts.empty()) lacking = PartNames(PartsOf(model).Without(has.parts));
  bool ffn = false;
  bool qk_norm = false;
  for (const LayerGroup& group : model.groups) {
    ffn = ffn || (!has.ffn.empty() && group.ffn.exists() && !has.ffn.Has(group.ffn.kind));
    qk_norm = qk_norm || (!has.qk_norm && group.attention.qk_norm);
  }
  if (ffn) lacking.emplace_back(kFfnPart);
  if (qk_norm) lacking.emplace_back(kQkNormPart);
  return lacking;
}

absl::Status RefuseParts(const ModelSpec& model, const std::vector<std::string>& parts,
                         const std::vector<SetAsideKey>& keys, std::string_view lacks,
                         std::string_view instead) {
  std::vector<Asked> asked = KeysOf(model, parts);
  for (const SetAsideKey& key : keys) {
    asked.push_back({key.key, key.value.starts_with('[') ? "" : key.value, {}});
  }
  const Asked& first = asked.front();
  std::string others = NamesOfOthers(asked, true);
  const bool is_long = others.size() + first.Words().size() > kMostNamedBytes;
  if (is_long) others = NamesOfOthers(asked, false);
  std::string problem(lacks);
  absl::StrAppend(&problem, " it", is_long ? "" : first.Words());
  if (!others.empty()) absl::StrAppend(&problem, ", nor for ", others);
  absl::StrAppend(&problem, "; ", std::string(instead));
  return FieldError(first.key, first.value.empty() ? "(present)" : first.value, problem);
}

}  // namespace meshwright::planner
