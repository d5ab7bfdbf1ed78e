#include "planner/catalog/architecture.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "planner/base/field_error.h"
#include "planner/codec/json_text.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr size_t kLongestValue = 40;

// Some keys and what may stand there in a model that is planned; null and absence always may.
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

// Something that the planner lacks.
struct MissingPart {
  std::string text;
  std::vector<KeyRule> rules;
  std::vector<std::string> evidence;  // keys that tell of it in a family that has it
};

struct Table {
  std::vector<Architecture> planned;
  std::map<std::string, MissingPart> missing;
  std::map<std::string, std::vector<std::string>> families;  // model_type -> ids of missing parts
  std::set<std::string, std::less<>> known_keys;
};

Architecture ReadArchitecture(const json& entry) {
  Architecture architecture{.model_type = entry.at("model_type"),
                            .norm_epsilon = entry.at("rms_norm_eps"),
                            .head_dim = std::nullopt,
                            .qkv_bias = entry.value("qkv_bias", false),
                            .qk_norm = entry.value("qk_norm", false),
                            .window_needs_switch = entry.value("window_needs_switch", false)};
  if (entry.contains("head_dim")) architecture.head_dim = entry.at("head_dim").get<int64_t>();
  return architecture;
}

MissingPart ReadMissingPart(const json& entry) {
  MissingPart part{.text = entry.at("text"),
                   .rules = {},
                   .evidence = entry.value("evidence", std::vector<std::string>())};
  for (const json& rule : entry.value("rules", json::array())) {
    KeyRule read{.keys = rule.at("keys"),
                 .at_most = std::nullopt,
                 .one_of = rule.value("one_of", std::vector<json>())};
    if (rule.contains("at_most")) read.at_most = rule.at("at_most").get<double>();
    part.evidence.insert(part.evidence.end(), read.keys.begin(), read.keys.end());
    part.rules.push_back(std::move(read));
  }
  return part;
}

// The file is compiled in, and a test reads all of it: it has no errors to report.
Table ReadTable() {
  const json file = ParseJson("architectures", EmbeddedArchitectures().front().text).value();
  Table table;
  for (const json& entry : file.at("planned")) table.planned.push_back(ReadArchitecture(entry));
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

// A part that a config asks for, with the key that says so where there is one.
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

// Its beginning, which ends where a character of UTF-8 does.
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

std::vector<Finding> FindMissing(const std::string& model_type, const json& config) {
  const Table& table = TheTable();
  std::vector<Finding> findings;
  std::set<const MissingPart*> found;
  for (const auto& [id, part] : table.missing) {
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
  std::string text;
  for (size_t i = first; i < findings.size(); ++i) {
    if (i > first) text += i + 1 == findings.size() ? " and " : ", ";
    text += findings[i].Text();
  }
  return text;
}

std::string PlannedTypes() {
  const std::vector<Architecture>& planned = TheTable().planned;
  std::string text = "planned are dense models of model_type ";
  for (size_t i = 0; i < planned.size(); ++i) {
    if (i > 0) text += i + 1 == planned.size() ? " or " : ", ";
    text += planned[i].model_type;
  }
  return text;
}

// A tower's language model may be planned alone.
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

// Of a config whose family is planned.
absl::Status PartsMissing(const std::vector<Finding>& findings) {
  const Finding& first = findings.front();
  std::string problem = absl::StrCat(first.part->text, ": not planned yet; ", first.accepted);
  if (findings.size() > 1) {
    absl::StrAppend(&problem, ". Nor is ", JoinTexts(findings, 1));
  }
  return FieldError(first.key, first.value.empty() ? "(present)" : first.value, problem);
}

}  // namespace

absl::StatusOr<Architecture> ArchitectureOf(const json& config) {
  const auto type = config.find("model_type");
  const bool named = type != config.end() && !type->is_null();
  if (named && !type->is_string()) {
    return FieldError("model_type", Shown(*type), "must be a text");
  }
  const std::string model_type = named ? type->get<std::string>() : "llama";
  const std::vector<Finding> findings = FindMissing(model_type, config);
  for (const Architecture& planned : TheTable().planned) {
    if (planned.model_type != model_type) continue;
    if (findings.empty()) return planned;
    return PartsMissing(findings);
  }
  return NotPlanned(model_type, findings, config);
}

bool IsKnownConfigKey(std::string_view key) { return TheTable().known_keys.contains(key); }

}  // namespace meshwright::planner
