#include "planner/catalog/model_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "planner/codec/json_fields.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

// Last words of a model's name that do not change the model's shape.
constexpr std::array<std::string_view, 6> kTrainings = {"hf",       "base", "chat",
                                                        "instruct", "it",   "pt"};

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// The runs of letters and digits, in lower case.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : name) {
    const bool part = absl::ascii_isalnum(static_cast<unsigned char>(c));
    if (part && !inside) words.emplace_back();
    if (part) words.back() += absl::ascii_tolower(static_cast<unsigned char>(c));
    inside = part;
  }
  return words;
}

void DropTrainings(std::vector<std::string>& words) {
  while (words.size() > 1 &&
         std::find(kTrainings.begin(), kTrainings.end(), words.back()) != kTrainings.end()) {
    words.pop_back();
  }
}

// Returns whether the word is a number of layers, such as "12l".
bool CountsLayers(const std::string& word) {
  return word.size() > 1 && word.back() == 'l' &&
         std::all_of(word.begin(), word.end() - 1, [](char c) { return IsDigit(c); });
}

// One text for all spellings: only numbers are kept apart.
std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty() && IsDigit(text.back()) && IsDigit(word.front())) text += '-';
    text += word;
  }
  return text;
}

std::string SpellingOf(std::string_view name) {
  std::vector<std::string> words = WordsOf(name);
  DropTrainings(words);
  return Joined(words);
}

struct NameTable {
  std::map<std::string, ModelName> by_spelling;
  std::map<std::string, std::vector<std::string>, std::less<>> others;  // by preset
};

// A name of two presets would be decided by chance: presets go before the table, and a test looks
// for the rest.
NameTable ReadNameTable() {
  NameTable table;
  for (const EmbeddedFile& file : EmbeddedModels()) {
    const std::string preset(file.name);
    table.by_spelling.emplace(SpellingOf(preset), ModelName{preset, preset});
  }
  const absl::StatusOr<nlohmann::json> names =
      ParseJsonObject("model_names", EmbeddedModelNames().front().text);
  if (!names.ok()) return table;
  JsonFields fields(*names);
  for (const auto& [preset, unused] : names->items()) {
    table.others[preset] = fields.StringsOr(preset);
    for (const std::string& name : table.others[preset]) {
      table.by_spelling.emplace(SpellingOf(name), ModelName{name, preset});
    }
  }
  return table;
}

const NameTable& AllNames() {
  static const NameTable* const kTable = new NameTable(ReadNameTable());
  return *kTable;
}

std::optional<ModelName> Find(const std::string& spelling) {
  const auto found = AllNames().by_spelling.find(spelling);
  if (found == AllNames().by_spelling.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<ModelName> ModelNamed(std::string_view name) {
  if (name.find('/') != std::string_view::npos) return std::nullopt;
  return Find(SpellingOf(name));
}

std::optional<ModelName> ModelOfRow(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::vector<std::string> words = WordsOf(name);
  // A proxy model has the shape of its model only if its name states the number of remaining
  // layers.
  if (words.size() > 1 && CountsLayers(words.back())) {
    words.pop_back();
    if (words.size() > 1 && words.back() == "proxy") words.pop_back();
  }
  DropTrainings(words);
  return Find(Joined(words));
}

std::vector<std::string> OtherNamesOf(std::string_view preset) {
  const auto found = AllNames().others.find(preset);
  return found == AllNames().others.end() ? std::vector<std::string>() : found->second;
}

}  // namespace meshwright::planner
