#include "planner/catalog/layer_mixers.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/architecture_table.h"
#include "planner/catalog/key_rule.h"
#include "planner/catalog/layer_windows.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr const char* kTypes = "layer_types";
constexpr const char* kRepeatedTypes = "block_types";         // RecurrentGemma
constexpr const char* kLetters = "hybrid_override_pattern";   // Nemotron-H
constexpr const char* kZeroForRecurrence = "attn_type_list";  // MiniMax-01
constexpr const char* kFullFromOne = "full_attn_layers";      // Kimi Linear
constexpr const char* kFullFromZero = "full_attn_idxs";       // LFM2, Bamba
constexpr const char* kEvery = "full_attention_interval";     // Qwen3-Next
constexpr const char* kPeriod = "attn_layer_period";          // Jamba
constexpr const char* kOffset = "attn_layer_offset";
constexpr const char* kGroupSize = "layer_group_size";  // Ling

constexpr const char* kLists[] = {kTypes, kRepeatedTypes, kLetters, kZeroForRecurrence};
constexpr const char* kOthers[] = {kFullFromOne, kFullFromZero, kEvery,      kPeriod,
                                   kOffset,      kGroupSize,    "kda_layers"};

constexpr LayerParts kRecurrent{.attention = false, .recurrence = true};

bool IsGiven(const json& config, const char* key) {
  const auto value = config.find(key);
  return value != config.end() && !IsOff(*value);
}

bool HasBothMixers(const Architecture& architecture) {
  return architecture.beside_attention || architecture.shared_blocks;
}

// Returns the names that this family's layers may have, in words.
std::string AcceptedNames(const Architecture& architecture) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : Architectures().layer_kinds.items()) {
    if (kind == "both" && !HasBothMixers(architecture)) continue;
    const bool of_recurrence = kind == "recurrence" || kind == "experts" || kind == "ffn";
    if (name.size() == 1 || (of_recurrence && architecture.recurrence == RecurrenceKind::kNone)) {
      continue;
    }
    names.push_back(name);
  }
  return ListInWords(names, "or");
}

// Returns the parts of a layer whose kind has this name. `holds_one` says whether a layer holds a
// mixer alone or an FFN alone.
absl::StatusOr<LayerParts> PartsOfKind(std::string_view key, const json& name, bool holds_one,
                                       const Architecture& architecture) {
  const json& kinds = Architectures().layer_kinds;
  const std::string shown = name.is_string() ? name.get<std::string>() : ShowJson(name);
  const auto known = kinds.find(shown);
  const std::string kind = known == kinds.end() ? "" : known->get<std::string>();
  const bool is_recurrent = kind == "recurrence";
  const bool is_both = kind == "both";
  if (kind.empty() || (is_recurrent && architecture.recurrence == RecurrenceKind::kNone) ||
      (is_both && !HasBothMixers(architecture))) {
    return FieldError(key, ShortenedName(shown),
                      absl::StrCat("layers of this kind are not planned yet; must be ",
                                   AcceptedNames(architecture)));
  }
  if (kind == "experts" || kind == "ffn") {
    return LayerParts{.attention = false, .is_expert_layer = kind == "experts"};
  }
  return LayerParts{.attention = !is_recurrent,
                    .recurrence = is_recurrent || is_both,
                    .ffn = !holds_one && !(is_recurrent && architecture.shared_blocks),
                    .is_indexed = kind == "indexed"};
}

// Returns the names in the list as it is, or the letters of a text.
std::vector<json> KindNamesIn(const json& value) {
  if (value.is_array()) return value.get<std::vector<json>>();
  std::vector<json> names;
  if (!value.is_string()) return names;
  for (const char letter : value.get_ref<const std::string&>()) {
    names.emplace_back(std::string(1, letter));
  }
  return names;
}

// If a list names layers that hold only an FFN, its other layers have no FFN.
bool HoldOnePart(const std::vector<json>& names) {
  const json& kinds = Architectures().layer_kinds;
  return std::any_of(names.begin(), names.end(), [&](const json& name) {
    if (!name.is_string()) return false;
    const auto kind = kinds.find(name.get<std::string>());
    return kind != kinds.end() && (*kind == "experts" || *kind == "ffn");
  });
}

absl::StatusOr<std::vector<LayerParts>> PartsByName(const char* key, std::vector<json> names,
                                                    const Architecture& architecture,
                                                    int64_t layers) {
  const bool repeats = std::string_view(key) == kRepeatedTypes;
  if (!repeats && static_cast<int64_t>(names.size()) != layers) {
    return FieldError(key, static_cast<int64_t>(names.size()),
                      absl::StrCat("must name the kind of each of ", layers, " layers"));
  }
  const bool holds_one = std::string_view(key) == kLetters || HoldOnePart(names);
  std::vector<LayerParts> parts;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const json& name = names[static_cast<size_t>(layer) % names.size()];
    ASSIGN_OR_RETURN(LayerParts of_layer, PartsOfKind(key, name, holds_one, architecture));
    parts.push_back(of_layer);
  }
  const bool names_index = architecture.index_by_name ||
                           std::any_of(parts.begin(), parts.end(), [](const LayerParts& layer) {
                             return layer.attention && layer.is_indexed;
                           });
  for (LayerParts& layer : parts) layer.is_indexed = layer.is_indexed || !names_index;
  return parts;
}

using IsAttention = std::function<bool(int64_t layer)>;

std::vector<LayerParts> PartsWhere(int64_t layers, const IsAttention& is_attention) {
  std::vector<LayerParts> parts;
  for (int64_t layer = 0; layer < layers; ++layer) {
    parts.push_back(is_attention(layer) ? LayerParts() : kRecurrent);
  }
  return parts;
}

// Returns the parts where a list has the numbers of the layers with attention. Kimi Linear counts
// them from 1, unless 0 is in one of its two lists.
absl::StatusOr<std::vector<LayerParts>> PartsByNumber(JsonFields& fields, const char* key,
                                                      int64_t first, int64_t layers) {
  const json* numbers = fields.OptionalArray(key);
  RETURN_IF_ERROR(fields.status());
  std::vector<LayerParts> parts(static_cast<size_t>(layers), kRecurrent);
  for (const json& number : *numbers) {
    if (!number.is_number_integer() || number < first || number >= layers + first) {
      return FieldError(key, ShowJson(number),
                        absl::StrCat("must be a layer's number, counted from ", first));
    }
    parts[static_cast<size_t>(number.get<int64_t>() - first)] = LayerParts();
  }
  return parts;
}

int64_t FirstNumber(const json& config) {
  for (const char* key : {kFullFromOne, "kda_layers"}) {
    const auto list = config.find(key);
    if (list == config.end() || !list->is_array()) continue;
    if (std::find(list->begin(), list->end(), json(0)) != list->end()) return 0;
  }
  return 1;
}

absl::StatusOr<std::vector<LayerParts>> PartsByPeriod(JsonFields& fields, const json& config,
                                                      const Architecture& architecture,
                                                      int64_t layers) {
  if (architecture.beside_attention) {
    return std::vector<LayerParts>(static_cast<size_t>(layers), {.recurrence = true});
  }
  if (IsGiven(config, kEvery)) {
    const int64_t every = fields.Int(kEvery);
    RETURN_IF_ERROR(fields.status());
    RETURN_IF_ERROR(CheckRange(kEvery, every, 1, kMostLayers));
    return PartsWhere(layers, [=](int64_t layer) { return (layer + 1) % every == 0; });
  }
  if (IsGiven(config, kGroupSize)) {
    const int64_t size = fields.Int(kGroupSize);
    RETURN_IF_ERROR(fields.status());
    RETURN_IF_ERROR(CheckRange(kGroupSize, size, 1, kMostLayers));
    const int64_t whole = layers / size * size;
    return PartsWhere(layers,
                      [=](int64_t layer) { return (layer + 1) % size == 0 || layer >= whole; });
  }
  if (IsGiven(config, kPeriod)) {
    const int64_t period = fields.Int(kPeriod);
    const int64_t offset = fields.IntOr(kOffset, 0);
    RETURN_IF_ERROR(fields.status());
    RETURN_IF_ERROR(CheckRange(kPeriod, period, 1, kMostLayers));
    RETURN_IF_ERROR(CheckRange(kOffset, offset, 0, period - 1));
    return PartsWhere(layers, [=](int64_t layer) { return layer % period == offset; });
  }
  if (architecture.recurs_by_default) {
    return std::vector<LayerParts>(static_cast<size_t>(layers), kRecurrent);
  }
  return FieldError(
      kTypes, "(absent)",
      absl::StrCat("must say which layers have attention and which a ",
                   std::string(NameOf(kRecurrenceKindNames, architecture.recurrence))));
}

}  // namespace

bool SaysWhichHaveExperts(const std::vector<LayerParts>& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const LayerParts& layer) {
    return layer.ffn && !layer.attention && !layer.recurrence;
  });
}

absl::StatusOr<int64_t> ReadLayerCount(JsonFields& fields, const json& config) {
  for (const char* key : {kTypes, kLetters}) {
    if (config.contains("num_hidden_layers") || !IsGiven(config, key)) continue;
    return static_cast<int64_t>(KindNamesIn(config.at(key)).size());
  }
  const int64_t layers = fields.Int("num_hidden_layers");
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("num_hidden_layers", layers, 1, kMostLayers));
  return layers;
}

absl::StatusOr<std::vector<LayerParts>> ReadLayerParts(JsonFields& fields, const json& config,
                                                       const Architecture& architecture,
                                                       int64_t layers) {
  const bool recurs = architecture.recurrence != RecurrenceKind::kNone;
  if (recurs) {
    for (const char* key : kLists) fields.Has(key);
    for (const char* key : kOthers) fields.Has(key);
  }
  if (architecture.ffn == FfnKind::kNone) {  // Mamba
    return std::vector<LayerParts>(static_cast<size_t>(layers),
                                   {.attention = false, .recurrence = true, .ffn = false});
  }
  for (const char* key : {kTypes, kRepeatedTypes, kLetters}) {
    if (!IsGiven(config, key)) continue;
    const std::vector<json> names = KindNamesIn(config.at(key));
    if (names.empty()) return FieldError(key, ShowJson(config.at(key)), "must be a list of names");
    return PartsByName(key, names, architecture, layers);
  }
  if (!recurs) return std::vector<LayerParts>(static_cast<size_t>(layers));
  if (IsGiven(config, kZeroForRecurrence)) {
    const std::vector<json> list = KindNamesIn(config.at(kZeroForRecurrence));
    if (static_cast<int64_t>(list.size()) != layers) {
      return FieldError(kZeroForRecurrence, static_cast<int64_t>(list.size()),
                        absl::StrCat("must say for each of ", layers, " layers what it is"));
    }
    return PartsWhere(layers, [&](int64_t layer) { return list[static_cast<size_t>(layer)] == 1; });
  }
  if (IsGiven(config, kFullFromOne)) {
    return PartsByNumber(fields, kFullFromOne, FirstNumber(config), layers);
  }
  if (IsGiven(config, kFullFromZero)) return PartsByNumber(fields, kFullFromZero, 0, layers);
  return PartsByPeriod(fields, config, architecture, layers);
}

}  // namespace meshwright::planner
