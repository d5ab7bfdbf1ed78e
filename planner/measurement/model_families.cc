#include "planner/measurement/model_families.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/codec/json_fields.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

bool IsWordPart(char c) { return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c)); }

// Returns whether `word` stands in `text` with no letter or digit right before or after it:
// "untied" does not say "tied".
bool HasWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool starts = at == 0 || !IsWordPart(text[at - 1]);
    if (starts && (end == text.size() || !IsWordPart(text[end]))) return true;
  }
  return false;
}

std::optional<bool> OptionalBool(JsonFields& fields, std::string_view key) {
  if (!fields.Has(key)) return std::nullopt;
  return fields.BoolOr(key, false);
}

// The value of the first family that matches `model` and knows it.
template <typename T>
std::optional<T> Lookup(const ModelFamilies& families, const std::string& model,
                        std::optional<T> ModelFamily::*property) {
  const std::string name = absl::AsciiStrToLower(model);
  for (const ModelFamily& family : families.families) {
    if ((family.*property).has_value() && Contains(name, family.match)) return family.*property;
  }
  return std::nullopt;
}

// An absent list is an empty one.
const json& List(const json& object, const char* key) {
  static const json* const kEmpty = new json(json::array());
  const auto list = object.find(key);
  return list == object.end() ? *kEmpty : *list;
}

// The texts of `key`.match.
absl::StatusOr<std::vector<std::string>> Matches(JsonFields& fields, const std::string& key) {
  std::vector<std::string> matches;
  for (const json& match : List(fields.Object(key), "match")) {
    if (!match.is_string()) return FieldError(key + ".match", ShowJson(match), "must be a text");
    matches.push_back(match);
  }
  RETURN_IF_ERROR(fields.status());
  return matches;
}

}  // namespace

absl::StatusOr<ModelFamilies> ModelFamiliesFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject("families", text));
  JsonFields fields(object);
  ModelFamilies families;
  ASSIGN_OR_RETURN(families.experts, Matches(fields, "experts"));
  ASSIGN_OR_RETURN(families.adapters, Matches(fields, "adapters"));
  for (const json& entry : List(object, "families")) {
    if (!entry.is_object()) return FieldError("families", ShowJson(entry), "must be an object");
    JsonFields family(entry, "families.");
    families.families.push_back({family.String("match"), OptionalBool(family, "gated"),
                                 OptionalBool(family, "tied"), family.OptionalInt("vocab")});
    RETURN_IF_ERROR(family.status());
  }
  RETURN_IF_ERROR(fields.status());
  return families;
}

absl::StatusOr<ModelFamilies> LoadModelFamilies() {
  return ModelFamiliesFromJson(EmbeddedFamilies().front().text);
}

bool HasExperts(const ModelFamilies& families, const Measurement& row) {
  if (row.ep.value_or(1) > 1) return true;
  const std::string notes = absl::AsciiStrToLower(row.notes);
  if (HasWord(notes, "moe") || Contains(notes, "experts")) return true;
  const std::string model = absl::AsciiStrToLower(row.model);
  return Contains(model, "experts") ||
         std::any_of(families.experts.begin(), families.experts.end(),
                     [&](const std::string& part) { return Contains(model, part); });
}

bool TrainsAdapters(const ModelFamilies& families, const Measurement& row) {
  const std::string notes = absl::AsciiStrToLower(row.notes);
  return std::any_of(families.adapters.begin(), families.adapters.end(),
                     [&](const std::string& word) { return HasWord(notes, word); });
}

std::optional<bool> HasGatedFfn(const ModelFamilies& families, const Measurement& row) {
  if (HasWord(absl::AsciiStrToLower(row.notes), "swiglu")) return true;
  return Lookup(families, row.model, &ModelFamily::gated);
}

std::optional<bool> HasTiedEmbeddings(const ModelFamilies& families, const Measurement& row) {
  const std::string notes = absl::AsciiStrToLower(row.notes);
  if (HasWord(notes, "untied embeddings") || HasWord(notes, "untie-embeddings") ||
      HasWord(notes, "untied input/output embeddings")) {
    return false;
  }
  if (HasWord(notes, "tied embeddings")) return true;
  return Lookup(families, row.model, &ModelFamily::tied);
}

std::optional<int64_t> VocabOf(const ModelFamilies& families, const Measurement& row) {
  constexpr std::string_view kFlag = "vocab-size=";
  const std::string notes = absl::AsciiStrToLower(row.notes);
  const size_t flag = notes.find(kFlag);
  if (flag != std::string::npos) {
    int64_t vocab = 0;
    const char* const begin = notes.data() + flag + kFlag.size();
    const auto [end, error] = std::from_chars(begin, notes.data() + notes.size(), vocab);
    if (error == std::errc() && end != begin && vocab > 0) return vocab;
  }
  return Lookup(families, row.model, &ModelFamily::vocab);
}

}  // namespace meshwright::planner
