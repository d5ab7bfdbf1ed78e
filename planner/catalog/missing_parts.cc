#include "planner/catalog/missing_parts.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "planner/catalog/architecture_table.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

// Of all texts together, so that a refusal fits into five lines of 80 columns.
constexpr size_t kMostTextBytes = 260;
constexpr const char* kSizes[] = {"hidden_size", "num_hidden_layers", "num_attention_heads",
                                  "vocab_size"};

// A feature that a config asks for, with the key that says so where there is one.
struct Finding {
  std::string id;
  const MissingPart* part = nullptr;
  std::string key = {};
  std::string value = {};
  std::string accepted = {};

  std::string Text() const {
    if (key.empty()) return part->text;
    return absl::StrCat(part->text, " (", key, value.empty() ? "" : " = ", value, ")");
  }
};

// Returns the text that a message shows for a value that a rule does not allow. If the value is a
// list, this is the first item that the rule does not allow.
std::string ShownOf(const KeyRule& rule, const json& value) {
  if (!value.is_array() || rule.items.empty()) return ShownValue(value);
  for (const json& item : value) {
    if (std::find(rule.items.begin(), rule.items.end(), item) == rule.items.end()) {
      return ShownValue(item);
    }
  }
  return "";
}

Finding FindingOf(const std::string& id, const MissingPart& part, const json& config) {
  for (const KeyRule& rule : part.rules) {
    const std::string key = rule.BrokenKey(config);
    if (!key.empty()) return {id, &part, key, ShownOf(rule, config.at(key)), rule.Accepted()};
  }
  return {.id = id, .part = &part};
}

// Returns the parts that the family is known for, and then the parts that the keys ask for. If the
// family is known for some part, parts that other families have are left out, because they are
// planned.
std::vector<Finding> FindMissing(const std::string& model_type, const std::vector<std::string>& has,
                                 const json& config) {
  const ArchitectureTable& table = Architectures();
  const auto family = table.families.find(model_type);
  const std::vector<std::string> known_for =
      family == table.families.end() ? std::vector<std::string>() : family->second;
  std::vector<Finding> findings;
  for (const std::string& id : known_for) {
    findings.push_back(FindingOf(id, table.missing.at(id), config));
  }
  std::vector<std::string> done = has;
  done.insert(done.end(), known_for.begin(), known_for.end());
  for (const auto& [id, part] : table.missing) {
    if (std::find(done.begin(), done.end(), id) != done.end()) continue;
    if (!known_for.empty() && table.planned_parts.contains(id)) continue;
    Finding finding = FindingOf(id, part, config);
    if (!finding.key.empty()) findings.push_back(std::move(finding));
  }
  return findings;
}

std::string JoinTexts(const std::vector<Finding>& findings, size_t first) {
  std::vector<std::string> texts;
  size_t bytes = 0;
  for (size_t i = first; i < findings.size(); ++i) {
    const std::string text = findings[i].Text();
    bytes += text.size();
    if (!texts.empty() && bytes > kMostTextBytes) {
      texts.push_back(absl::StrCat(findings.size() - i, " more"));
      break;
    }
    texts.push_back(text);
  }
  return ListInWords(texts, "and");
}

}  // namespace

absl::Status CheckPlanned(const std::string& model_type, const std::vector<std::string>& has,
                          const json& config) {
  const std::vector<Finding> findings = FindMissing(model_type, has, config);
  if (findings.empty()) return absl::OkStatus();
  if (PlannedEntry(model_type) == nullptr) {
    return FieldError("model_type", ShortenedName(model_type),
                      "not planned yet: " + JoinTexts(findings, 0));
  }
  const Finding& first = findings.front();
  const bool elsewhere = Architectures().planned_parts.contains(first.id);
  std::string problem = absl::StrCat(
      first.part->text, elsewhere ? ": not planned in this family; " : ": not planned yet; ",
      first.accepted);
  if (findings.size() > 1) absl::StrAppend(&problem, ". Nor is ", JoinTexts(findings, 1));
  return FieldError(first.key, first.value.empty() ? "(present)" : first.value, problem);
}

absl::Status CheckSizes(const json& config) {
  std::vector<std::string> absent;
  for (const char* size : kSizes) {
    const auto value = config.find(size);
    if (value == config.end() || value->is_null()) absent.emplace_back(size);
  }
  if (absent.size() < 2) return absl::OkStatus();  // the reader names a single one
  const std::string first = absent.front();
  absent.erase(absent.begin());
  return FieldError(first, "(absent)",
                    absl::StrCat("must be given, and so must be ", ListInWords(absent, "and")));
}

}  // namespace meshwright::planner
