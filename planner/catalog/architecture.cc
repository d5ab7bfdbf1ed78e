#include "planner/catalog/architecture.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/enum_names.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/spec_fields.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr size_t kLongestValue = 40;

// Keys, and the values that they may have in a model that is planned; null and absence are always
// accepted.
struct KeyRule {
  std::vector<std::string> keys;
  std::optional<double> at_most;
  std::vector<json> one_of;

  bool Allows(const json& value) const {
    if (value.is_null()) return true;
    if (at_most) return value.is_number() && value.get<double>() <= *at_most;
    return std::find(one_of.begin(), one_of.end(), value) != one_of.end();
  }

  std::string Accepted() const {
    if (at_most) return absl::StrCat("must be at most ", *at_most);
    if (one_of.empty()) return "must be absent or null";
    return absl::StrCat(
        "must be ", absl::StrJoin(one_of, " or ", [](std::string* out, const json& value) {
          absl::StrAppend(out, value.is_string() ? value.get<std::string>() : value.dump());
        }));
  }
};

// A feature that the planner lacks.
struct MissingPart {
  std::string text;
  std::vector<KeyRule> rules;
  std::vector<std::string> evidence;  // keys that indicate it in a family that has it
};

struct PlannedFamily {
  std::string model_type;
  json entry;  // with its templates merged in
};

struct Table {
  std::vector<PlannedFamily> planned;
  std::map<std::string, MissingPart> missing;
  std::map<std::string, std::vector<std::string>> families;  // model_type -> ids of missing parts
  std::set<std::string, std::less<>> known_keys;
};

Architecture ReadArchitecture(const json& entry) {
  Architecture architecture;
  architecture.model_type = entry.at("model_type");
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
  architecture.windows_alternate = entry.value("windows_alternate", false);
  architecture.sinks = entry.value("sinks", false);
  architecture.latent = entry.value("latent", false);
  architecture.has_experts = entry.value("experts", false);
  architecture.dense_width_key = entry.value("dense_width_key", architecture.dense_width_key);
  architecture.expert_width_key = entry.value("expert_width_key", architecture.expert_width_key);
  architecture.shared_experts = entry.value("shared_experts", int64_t{0});
  architecture.shared_gate = entry.value("shared_gate", false);
  architecture.router_bias = entry.value("router_bias", false);
  architecture.selection_bias = entry.value("selection_bias", false);
  architecture.clamped_swiglu = entry.value("clamped_swiglu", false);
  architecture.router_score =
      entry.value("sigmoid_router", false) ? RouterScore::kSigmoid : RouterScore::kSoftmax;
  const auto kind = [&entry](const char* key, const auto& names) {
    return KindOf(names, key, entry.value(key, std::string(names.front().second))).value();
  };
  architecture.ffn = kind("ffn", kFfnKindNames);
  architecture.norm = kind("norm", kStreamNormNames);
  architecture.arrangement = kind("arrangement", kArrangementNames);
  architecture.positions = kind("positions", kPositionsNames);
  return architecture;
}

// Returns the entry with its templates merged in; its own members take precedence.
json WithTemplates(json entry, const json& templates) {
  while (entry.contains("like")) {
    const json& like = templates.at(entry.at("like").get<std::string>());
    entry.erase("like");
    json merged = like;
    merged.update(entry);
    entry = std::move(merged);
  }
  return entry;
}

KeyRule ReadKeyRule(const json& rule) {
  KeyRule read{.keys = rule.at("keys"),
               .at_most = std::nullopt,
               .one_of = rule.value("one_of", std::vector<json>())};
  if (rule.contains("at_most")) read.at_most = rule.at("at_most").get<double>();
  return read;
}

MissingPart ReadMissingPart(const json& entry) {
  MissingPart part{.text = entry.at("text"),
                   .rules = {},
                   .evidence = entry.value("evidence", std::vector<std::string>())};
  for (const json& rule : entry.value("rules", json::array())) {
    KeyRule read = ReadKeyRule(rule);
    part.evidence.insert(part.evidence.end(), read.keys.begin(), read.keys.end());
    part.rules.push_back(std::move(read));
  }
  return part;
}

// The file is compiled in, and a test reads all of it, so it has no errors to report.
Table ReadTable() {
  const json file = ParseJson("architectures", EmbeddedArchitectures().front().text).value();
  Table table;
  for (const json& planned : file.at("planned")) {
    const json entry = WithTemplates(planned, file.at("templates"));
    table.planned.push_back({entry.at("model_type"), entry});
    for (const json& choice : entry.value("switches", json::array())) {
      table.known_keys.insert(choice.at("key").get<std::string>());
    }
    const json same = entry.value("same_as", json::object());
    for (const auto& pair : same.items()) table.known_keys.insert(pair.key());
    for (const json& rule : entry.value("needs", json::array())) {
      for (const std::string key : rule.at("keys")) table.known_keys.insert(key);
    }
  }
  for (const auto& [id, entry] : file.at("missing").items()) {
    const MissingPart& part = table.missing.emplace(id, ReadMissingPart(entry)).first->second;
    for (const KeyRule& rule : part.rules) {
      table.known_keys.insert(rule.keys.begin(), rule.keys.end());
    }
  }
  for (const json& entry : file.at("families")) {
    for (const std::string model_type : entry.at("model_types")) {
      table.families.emplace(model_type, entry.at("missing"));
    }
  }
  for (const std::string key : file.at("ignored")) table.known_keys.insert(key);
  return table;
}

const Table& TheTable() {
  static const Table* const kTable = new Table(ReadTable());
  return *kTable;
}

// A feature that a config asks for, with the key that says so where there is one.
struct Finding {
  const MissingPart* part = nullptr;
  std::string key = {};
  std::string value = {};
  std::string accepted = {};

  std::string Text() const {
    if (key.empty()) return part->text;
    return absl::StrCat(part->text, " (", key, value.empty() ? "" : " = ", value, ")");
  }
};

// Returns the beginning of a text, cut at a UTF-8 character's end.
std::string Shortened(const std::string& text) {
  size_t end = std::min(text.size(), kLongestValue);
  while (end < text.size() && end > 0 && (text[end] & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

std::string Shown(const json& value) {
  if (value.is_structured()) return "";
  return Shortened(value.is_string() ? value.get<std::string>() : value.dump());
}

// Models with several towers keep their language model's keys one object down.
const json* FindKey(const json& config, const std::string& key) {
  const auto at = config.find(key);
  if (at != config.end() && !at->is_null()) return &*at;
  const auto text = config.find("text_config");
  if (text == config.end() || !text->is_object()) return nullptr;
  const auto inside = text->find(key);
  return inside == text->end() || inside->is_null() ? nullptr : &*inside;
}

Finding WithEvidence(const MissingPart& part, const json& config) {
  for (const std::string& key : part.evidence) {
    if (const json* value = FindKey(config, key)) return {&part, key, Shown(*value), ""};
  }
  return {.part = &part};
}

std::optional<Finding> BrokenRule(const MissingPart& part, const json& config) {
  for (const KeyRule& rule : part.rules) {
    for (const std::string& key : rule.keys) {
      const json* value = FindKey(config, key);
      if (value == nullptr || rule.Allows(*value)) continue;
      return Finding{&part, key, Shown(*value), rule.Accepted()};
    }
  }
  return std::nullopt;
}

// Finds the missing features; those that `has` names are planned for this family.
std::vector<Finding> FindMissing(const std::string& model_type, const json& config,
                                 const std::vector<std::string>& has) {
  const Table& table = TheTable();
  std::vector<Finding> findings;
  std::set<const MissingPart*> found;
  for (const auto& [id, part] : table.missing) {
    if (std::find(has.begin(), has.end(), id) != has.end()) continue;
    if (std::optional<Finding> finding = BrokenRule(part, config)) {
      findings.push_back(*std::move(finding));
      found.insert(&part);
    }
  }
  const auto family = table.families.find(model_type);
  if (family == table.families.end()) return findings;
  for (const std::string& id : family->second) {
    const MissingPart& part = table.missing.at(id);
    if (!found.contains(&part)) findings.push_back(WithEvidence(part, config));
  }
  // What the family is known for comes first.
  std::stable_partition(findings.begin(), findings.end(), [&](const Finding& finding) {
    return std::any_of(family->second.begin(), family->second.end(), [&](const std::string& id) {
      return &table.missing.at(id) == finding.part;
    });
  });
  return findings;
}

std::string JoinTexts(const std::vector<Finding>& findings, size_t first) {
  std::vector<std::string> texts;
  for (size_t i = first; i < findings.size(); ++i) texts.push_back(findings[i].Text());
  return ListInWords(texts, "and");
}

std::string PlannedTypes() {
  std::vector<std::string_view> types;
  for (const PlannedFamily& family : TheTable().planned) types.push_back(family.model_type);
  return "planned are models of model_type " + ListInWords(types, "or");
}

// Returns the planned family of a config; nullptr where no family has its model_type.
const PlannedFamily* FamilyOf(const json& config) {
  const auto type = config.find("model_type");
  const bool named = type != config.end() && type->is_string();
  const std::string model_type = named ? type->get<std::string>() : "llama";
  for (const PlannedFamily& family : TheTable().planned) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

// Checks that a family's file asks for nothing that the planner can't model.
absl::Status CheckNeeds(const json& entry, const json& config) {
  std::vector<KeyRule> rules;
  for (const json& rule : entry.value("needs", json::array())) rules.push_back(ReadKeyRule(rule));
  if (entry.contains("activations")) {
    rules.push_back({.keys = {"hidden_act", "hidden_activation", "activation_function"},
                     .at_most = std::nullopt,
                     .one_of = entry.at("activations")});
  }
  const json same = entry.value("same_as", json::object());
  for (const auto& [key, other] : same.items()) {
    if (config.contains(other)) {
      rules.push_back({.keys = {key}, .at_most = std::nullopt, .one_of = {config.at(other)}});
    }
  }
  for (const KeyRule& rule : rules) {
    for (const std::string& key : rule.keys) {
      const auto value = config.find(key);
      if (value == config.end() || rule.Allows(*value)) continue;
      return FieldError(key, Shown(*value), absl::StrCat("not planned yet; ", rule.Accepted()));
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
      return FieldError(key, Shown(*given), "must be true or false");
    }
    const bool on = is_given ? given->get<bool>() : choice.at("default").get<bool>();
    const auto patch = choice.find(on ? "true" : "false");
    if (patch != choice.end()) entry.update(*patch);
  }
  return entry;
}

// The language model of a multi-tower model may be planned alone.
std::string HintAtTextConfig(const json& config) {
  const auto text = config.find("text_config");
  if (text == config.end() || !text->is_object()) return "";
  return ArchitectureOf(*text).ok() ? "; the object text_config is, in a file of its own" : "";
}

absl::Status NotPlanned(const std::string& model_type, const std::vector<Finding>& findings,
                        const json& config) {
  if (findings.empty()) {
    return FieldError("model_type", Shortened(model_type),
                      absl::StrCat("is not known; ", PlannedTypes(),
                                   ". A block like Llama's (RMSNorm, rotary embedding, grouped "
                                   "queries, SwiGLU) can be planned as llama"));
  }
  return FieldError("model_type", Shortened(model_type),
                    absl::StrCat(JoinTexts(findings, 0), ": not planned yet; ", PlannedTypes(),
                                 HintAtTextConfig(config)));
}

// Returns the error for a config whose family is planned.
absl::Status PartsMissing(const std::vector<Finding>& findings) {
  const Finding& first = findings.front();
  std::string problem = absl::StrCat(first.part->text, ": not planned yet; ", first.accepted);
  if (findings.size() > 1) {
    absl::StrAppend(&problem, ". Nor is ", JoinTexts(findings, 1));
  }
  return FieldError(first.key, first.value.empty() ? "(present)" : first.value, problem);
}

}  // namespace

json CanonicalConfig(json config) {
  const PlannedFamily* family = FamilyOf(config);
  if (family == nullptr) return config;
  const json& entry = family->entry;
  for (const std::string name : entry.value("flatten", json::array())) {
    const auto inner = config.find(name);
    if (inner == config.end() || !inner->is_object()) continue;
    const json object = *inner;
    config.erase(name);
    for (const auto& [key, value] : object.items()) config.emplace(key, value);
  }
  for (const std::string key : entry.value("ignored", json::array())) config.erase(key);
  const json renamed = entry.value("keys", json::object());
  for (const auto& [canonical, names] : renamed.items()) {
    for (const std::string name : names) {
      const auto value = config.find(name);
      if (value == config.end()) continue;
      const json moved = *value;
      config.erase(name);
      if (!config.contains(canonical)) config[canonical] = moved;
    }
  }
  const json defaults = entry.value("defaults", json::object());
  for (const auto& [key, value] : defaults.items()) config.emplace(key, value);
  return config;
}

absl::StatusOr<Architecture> ArchitectureOf(const json& config) {
  const auto type = config.find("model_type");
  const bool named = type != config.end() && !type->is_null();
  if (named && !type->is_string()) {
    return FieldError("model_type", Shown(*type), "must be a text");
  }
  const std::string model_type = named ? type->get<std::string>() : "llama";
  const PlannedFamily* family = FamilyOf(config);
  if (family == nullptr) return NotPlanned(model_type, FindMissing(model_type, config, {}), config);
  const std::vector<Finding> findings =
      FindMissing(model_type, config, family->entry.value("has", std::vector<std::string>()));
  if (!findings.empty()) return PartsMissing(findings);
  RETURN_IF_ERROR(CheckNeeds(family->entry, config));
  ASSIGN_OR_RETURN(const json entry, WithSwitches(family->entry, config));
  Architecture architecture = ReadArchitecture(entry);
  if (const auto dropout = BrokenRule(TheTable().missing.at("dropout"), config)) {
    architecture.left_aside.push_back(dropout->key);
  }
  return architecture;
}

bool IsKnownConfigKey(std::string_view key) { return TheTable().known_keys.contains(key); }

}  // namespace meshwright::planner
