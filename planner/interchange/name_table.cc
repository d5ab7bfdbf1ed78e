#include "planner/interchange/name_table.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

struct Word {
  absl::string_view ours;
  std::optional<absl::string_view> theirs;  // nullopt: said by leaving the name out
};

std::vector<Word> WordsOf(const NameRow& row) {
  std::vector<Word> words;
  for (const absl::string_view text : absl::StrSplit(AbslView(row.words), ' ', absl::SkipEmpty())) {
    const size_t sign = text.find('=');
    if (sign != absl::string_view::npos) {
      words.push_back({text.substr(0, sign), text.substr(sign + 1)});
    } else if (absl::EndsWith(text, "-")) {
      words.push_back({text.substr(0, text.size() - 1), std::nullopt});
    } else {
      words.push_back({text, text});
    }
  }
  return words;
}

}  // namespace

std::string NormalName(std::string_view name) {
  while (!name.empty() && (name.front() == '-' || name.front() == '+')) name.remove_prefix(1);
  return absl::StrReplaceAll(AbslView(name), {{"_", "-"}});
}

absl::StatusOr<std::optional<std::string>> Spell(const NameRow& row, const std::string& ours) {
  const std::vector<Word> words = WordsOf(row);
  for (const Word& word : words) {
    if (word.ours != ours && word.ours != "*") continue;
    if (word.ours == "*") return std::optional<std::string>(ours);
    if (!word.theirs) return std::optional<std::string>();
    return std::optional<std::string>(std::string(*word.theirs));
  }
  if (words.empty()) return std::optional<std::string>(ours);
  std::vector<std::string_view> have;
  for (const Word& word : words) {
    const std::string_view value = StdView(word.ours);
    if (std::find(have.begin(), have.end(), value) == have.end()) have.push_back(value);
  }
  return FieldError(
      row.setting, ours,
      absl::StrCat(AbslView(row.name), " has no value for it; must be ", ListInWords(have, "or")));
}

std::vector<std::string> Meanings(const NameRow& row, std::string_view theirs) {
  const std::vector<Word> words = WordsOf(row);
  if (words.empty()) return {std::string(theirs)};
  std::vector<std::string> ours;
  bool any = false;
  for (const Word& word : words) {
    any = any || word.ours == "*";
    if (word.theirs && word.ours != "*" && absl::EqualsIgnoreCase(*word.theirs, AbslView(theirs))) {
      ours.emplace_back(word.ours);
    }
  }
  if (ours.empty() && any) ours.emplace_back(theirs);
  return ours;
}

std::vector<std::string> UnsaidMeanings(const NameRow& row) {
  std::vector<std::string> ours;
  for (const Word& word : WordsOf(row)) {
    if (!word.theirs) ours.emplace_back(word.ours);
  }
  return ours;
}

std::string AcceptedWords(const NameRow& row) {
  std::vector<std::string_view> theirs;
  for (const Word& word : WordsOf(row)) {
    if (word.theirs &&
        std::find(theirs.begin(), theirs.end(), StdView(*word.theirs)) == theirs.end()) {
      theirs.push_back(StdView(*word.theirs));
    }
  }
  return ListInWords(theirs, "or");
}

const NameRow* FindRow(absl::Span<const NameTable> tables, std::string_view name) {
  const std::string wanted = NormalName(name);
  const NameRow* best = nullptr;
  for (const NameTable table : tables) {
    for (const NameRow& row : table) {
      if (row.use == NameUse::kExport) continue;
      std::string own = NormalName(row.name);
      if (own == wanted) return &row;
      if (own.empty() || own.back() != '*') continue;
      own.pop_back();
      if (!absl::StartsWith(wanted, own)) continue;
      if (best == nullptr || best->name.size() < row.name.size()) best = &row;
    }
  }
  return best;
}

absl::StatusOr<std::vector<Spelling>> SpellAll(NameTable table, const Settings& settings) {
  std::vector<Spelling> spellings;
  for (const NameRow& row : table) {
    if (row.use == NameUse::kImport) continue;
    if (!row.when.empty() && settings.Find(row.when) == nullptr) continue;
    if (row.setting.empty()) {
      if (row.use == NameUse::kExport) spellings.push_back({&row, std::string(row.words)});
      continue;
    }
    const std::string* ours = settings.Find(row.setting);
    if (ours == nullptr) continue;
    ASSIGN_OR_RETURN(const std::optional<std::string> theirs, Spell(row, *ours));
    if (theirs) spellings.push_back({&row, *theirs});
  }
  return spellings;
}

std::vector<std::vector<std::string>> FlagLines(NameTable table,
                                                const std::vector<Spelling>& spellings) {
  std::vector<std::vector<std::string>> lines;
  const NameRow* line = nullptr;  // the row that begins the last line
  for (const Spelling& spelling : spellings) {
    const NameRow* first = spelling.row;
    while (first->joins && first != table.data()) --first;
    if (first != line) lines.emplace_back();
    line = first;
    std::vector<std::string>& words = lines.back();
    words.emplace_back(spelling.row->name);
    if (spelling.row->quoted) {
      words.push_back(spelling.value);
      continue;
    }
    for (const absl::string_view word : absl::StrSplit(spelling.value, ' ', absl::SkipEmpty())) {
      words.emplace_back(word);
    }
  }
  return lines;
}

}  // namespace meshwright::planner
