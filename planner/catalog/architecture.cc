#include "planner/catalog/architecture.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/enum_names.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/architecture_table.h"
#include "planner/catalog/config_keys.h"
#include "planner/catalog/key_rule.h"
#include "planner/catalog/missing_parts.h"
#include "planner/catalog/spec_fields.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr EnumNames<AttentionGate, 4> kGates = {{
    {AttentionGate::kNone, "none"},
    {AttentionGate::kWidth, "width"},
    {AttentionGate::kHeads, "heads"},
    {AttentionGate::kLatent, "latent"},
}};

bool IsOn(const json& config, std::string_view key) {
  const auto value = config.find(std::string(key));
  return value != config.end() && !IsOff(*value);
}

void ReadRecurrentParts(const json& entry, Architecture& architecture) {
  architecture.beside_attention = entry.value("beside_attention", false);
  architecture.shared_blocks = entry.value("shared_blocks", false);
  architecture.recurs_by_default = entry.value("recurs_by_default", false);
  architecture.ranked_gates = entry.value("ranked_gates", false);
  architecture.inner_norms = entry.value("inner_norms", false);
  architecture.projection_bias = entry.value("projection_bias", false);
}

Architecture ReadArchitecture(const json& entry) {
  Architecture architecture;
  architecture.norm_epsilon = entry.at("rms_norm_eps");
  architecture.qkv_bias = entry.value("qkv_bias", false);
  architecture.qk_norm = entry.value("qk_norm", false);
  architecture.window_needs_switch = entry.value("window_needs_switch", false);
  const auto optional = [&entry](const char* key) -> std::optional<int64_t> {
    const auto value = entry.find(key);
    if (value == entry.end() || value->is_null()) return std::nullopt;
    return value->get<int64_t>();
  };
  architecture.head_dim = optional("head_dim");
  architecture.rounds_head_dim = entry.value("rounds_head_dim", false);
  architecture.ffn_multiple = optional("ffn_multiple");
  architecture.kv_heads = optional("kv_heads");
  architecture.position_offset = entry.value("position_offset", 0);
  architecture.rotary_share = entry.value("rotary_share", 1.0);
  architecture.qk_norm_over_width = entry.value("qk_norm_over_width", false);
  architecture.output_bias = entry.value("output_bias", false);
  architecture.ffn_bias = entry.value("ffn_bias", false);
  architecture.head_bias = entry.value("head_bias", false);
  architecture.embedding_norm = entry.value("embedding_norm", false);
  architecture.tied = entry.value("tied", false);
  architecture.sinks = entry.value("sinks", false);
  architecture.shared_experts = entry.value("shared_experts", int64_t{0});
  architecture.shared_gate = entry.value("shared_gate", false);
  architecture.router_bias = entry.value("router_bias", false);
  architecture.selection_bias = entry.value("selection_bias", false);
  architecture.clamped_swiglu = entry.value("clamped_swiglu", false);
  architecture.router_score =
      entry.value("sigmoid_router", false) ? RouterScore::kSigmoid : RouterScore::kSoftmax;
  architecture.value_norm = entry.value("value_norm", false);
  architecture.compressed = entry.value("compressed", false);
  architecture.merges_streams = entry.value("merges_streams", false);
  architecture.mixes_streams = entry.value("mixes_streams", true);
  architecture.residual_scales = entry.value("residual_scales", false);
  architecture.index_from_hidden = entry.value("index_from_hidden", false);
  architecture.layers_in_halves = entry.value("layers_in_halves", false);
  architecture.index_by_name = entry.value("index_by_name", false);
  architecture.latent_norms = entry.value("latent_norms", false);
  architecture.dense_beside_experts = entry.value("dense_beside_experts", false);
  architecture.ffn_divisor = entry.value("ffn_divisor", int64_t{1});
  const auto kind = [&entry](const char* key, const auto& names) {
    return KindOf(names, key, entry.value(key, std::string(names.front().second))).value();
  };
  architecture.ffn = kind("ffn", kFfnKindNames);
  architecture.norm = kind("norm", kStreamNormNames);
  architecture.arrangement = kind("arrangement", kArrangementNames);
  architecture.positions = kind("positions", kPositionsNames);
  architecture.attention_gate = kind("attention_gate", kGates);
  architecture.recurrence = kind("recurrence", kRecurrenceKindNames);
  ReadRecurrentParts(entry, architecture);
  return architecture;
}

// Returns the family's own key if the entry has one; otherwise the first key that is in the file;
// otherwise the last key.
std::string KeyOf(const json& entry, const char* name, const json& config, const char* preferred,
                  const char* otherwise) {
  if (entry.contains(name)) return entry.at(name);
  return IsOn(config, preferred) ? preferred : otherwise;
}

// A family's own keys need not be in the file: their absence is an error that names them.
void ReadKinds(const json& entry, const json& config, Architecture& architecture) {
  const auto has = [&](const char* name, const char* key) {
    return IsOn(config, key) || (entry.value(name, false) && !config.contains(key));
  };
  architecture.latent = has("latent", "kv_lora_rank");
  architecture.has_experts = has("experts", "num_experts") &&
                             config.value("num_experts", json()) != 1 &&
                             config.value("enable_moe_block", json()) != false;  // Gemma 4
  architecture.expert_width_key =
      KeyOf(entry, "expert_width_key", config, "moe_intermediate_size",
            entry.value("experts", false) ? "moe_intermediate_size" : "intermediate_size");
  architecture.dense_width_key =
      KeyOf(entry, "dense_width_key", config, "dense_intermediate_size", "intermediate_size");
}

// Checks that a family's file asks for nothing that the planner can't model.
absl::Status CheckNeeds(const json& entry, const json& config) {
  std::vector<KeyRule> rules;
  for (const json& rule : entry.value("needs", json::array())) rules.push_back(ReadKeyRule(rule));
  const json same = entry.value("same_as", json::object());
  for (const auto& [key, other] : same.items()) {
    if (config.contains(other)) rules.push_back({.keys = {key}, .one_of = {config.at(other)}});
  }
  for (const KeyRule& rule : rules) {
    for (const std::string& key : rule.keys) {
      const auto value = config.find(key);
      if (value == config.end() || value->is_null() || rule.Allows(config, *value)) continue;
      return FieldError(key, ShownValue(*value),
                        absl::StrCat("not planned yet; ", rule.Accepted()));
    }
  }
  return absl::OkStatus();
}

// Returns the entry after the switches of a config, applied in order.
absl::StatusOr<json> WithSwitches(json entry, const json& config) {
  const json switches = entry.value("switches", json::array());
  for (const json& choice : switches) {
    const std::string key = choice.at("key");
    const auto given = config.find(key);
    const bool is_given = given != config.end() && !given->is_null();
    if (is_given && !given->is_boolean()) {
      return FieldError(key, ShownValue(*given), "must be true or false");
    }
    const bool on = is_given ? given->get<bool>() : choice.at("default").get<bool>();
    const auto patch = choice.find(on ? "true" : "false");
    if (patch != choice.end()) entry.update(*patch);
  }
  return entry;
}

// Returns whether the family has a meaning of its own for the key.
bool IsOwnKey(const json& entry, const std::string& key) {
  for (const json& choice : entry.value("switches", json::array())) {
    if (choice.at("key") == key) return true;
  }
  for (const json& rule : entry.value("needs", json::array())) {
    for (const json& own : rule.at("keys")) {
      if (own == key) return true;
    }
  }
  return false;
}

// Returns the entry after the switches that mean the same in every family, or in every one that is
// not listed.
json WithStructure(json entry, const json& config, bool is_listed) {
  const json own = entry;
  for (const json& choice : Architectures().structure) {
    const std::string key = choice.at("key");
    if (!IsOn(config, key) || IsOwnKey(own, key)) continue;
    if (is_listed && choice.value("unlisted", false)) continue;
    if (IsOn(config, choice.value("unless", std::string()))) continue;
    const json& value = config.at(key);
    const std::string name = value.is_string() ? value.get<std::string>() : "true";
    for (const std::string& patch : {name, std::string("any")}) {
      if (choice.contains(patch) && choice.at(patch).is_object()) entry.update(choice.at(patch));
    }
  }
  return entry;
}

std::string NamesIn(const json& object) {
  std::vector<std::string> names;
  for (const auto& pair : object.items()) names.push_back(pair.key());
  return ListInWords(names, "or");
}

// Returns the kind of FFN that the activation and the family's gate make.
absl::StatusOr<FfnKind> FfnOf(FfnKind usual, const json& config, bool is_listed) {
  if (usual == FfnKind::kNone) return usual;
  const json& activations = Architectures().activations;
  for (const std::string key : activations.at("keys")) {
    if (!IsOn(config, key)) continue;
    const std::string name = ShownValue(config.at(key));
    const json& never_gated = activations.at("never_gated");
    const json& by_name = activations.at(IsGated(usual) ? "gated" : "plain");
    const json& table = never_gated.contains(name) ? never_gated : by_name;
    const bool tells = is_listed || table == never_gated || name == "silu" || name == "swish";
    if (table.contains(name) && tells) {
      return KindOf(kFfnKindNames, key, table.at(name).get<std::string>());
    }
    return FieldError(key, name,
                      tells ? absl::StrCat("not planned yet; must be ", NamesIn(by_name), ", or ",
                                           NamesIn(never_gated))
                            : "does not tell whether the FFN has a gate, and nor does this "
                              "model_type, which is not known; must be silu");
  }
  return usual;
}

void SetAside(const json& entry, const json& config, int64_t seq_len, Architecture& architecture) {
  const auto used = entry.value("used", std::vector<std::string>());
  for (const KeyRow& row : ConfigKeys()) {
    const bool is_noted = row.For(KeyUser::kEstimate).effect == KeyEffect::kNotes;
    if (!row.IsSetAside() && !is_noted) continue;
    if (row.beyond && seq_len <= *row.beyond) continue;
    for (const std::string& key : row.rule.keys) {
      const auto value = config.find(key);
      if (value == config.end() || row.rule.Allows(config, *value)) continue;
      if (std::find(used.begin(), used.end(), key) != used.end()) continue;
      // A list is kept as it stands, so that an export can write it.
      const std::string shown = value->is_array() ? value->dump() : ShownValue(*value);
      if (row.IsSetAside()) {
        architecture.set_aside.push_back({key, shown.empty() ? "(object)" : shown});
      } else {
        const bool has_value = !value->is_structured();
        architecture.without_effect.push_back(has_value ? absl::StrCat(key, " = ", shown) : key);
      }
    }
  }
}

}  // namespace

absl::StatusOr<Architecture> ArchitectureOf(const json& config, int64_t seq_len) {
  const std::string model_type = config.value("model_type", std::string());
  const json* planned = PlannedEntry(model_type);
  const json& family = planned != nullptr ? *planned : Architectures().unknown;
  ASSIGN_OR_RETURN(const json switched, WithSwitches(family, config));
  const json entry = WithStructure(switched, config, planned != nullptr);
  const auto has = entry.value("has", std::vector<std::string>());
  RETURN_IF_ERROR(CheckPlanned(model_type, has, config));
  RETURN_IF_ERROR(CheckNeeds(family, config));
  Architecture architecture = ReadArchitecture(entry);
  architecture.model_type = model_type;
  architecture.is_listed = planned != nullptr;
  ReadKinds(entry, config, architecture);
  ASSIGN_OR_RETURN(architecture.ffn, FfnOf(architecture.ffn, config, architecture.is_listed));
  SetAside(entry, config, seq_len, architecture);
  return architecture;
}

}  // namespace meshwright::planner
