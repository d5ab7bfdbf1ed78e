#include "planner/interchange/import_match.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/string_view.h"
#include "planner/interchange/file_export.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {
namespace {

constexpr char kConditional[] =
    "the script adds it under a condition on variables that the file does not set; --env "
    "NAME=VALUE gives one";

// Returns whether the value says that another file has the value, as DeepSpeed's auto does.
bool LeavesToOthers(const NameRow& row, const std::string& value) {
  return value == "auto" && (row.words.empty() || Meanings(row, value).empty());
}

// Returns whether the value is one of those that an estimate takes as given.
bool IsGiven(const NameRow& row, const std::string& value) {
  double number = 0.0;
  const bool is_number = absl::SimpleAtod(value, &number);
  for (const absl::string_view word : absl::StrSplit(AbslView(row.words), ' ', absl::SkipEmpty())) {
    double given = 0.0;
    if (absl::EqualsIgnoreCase(word, value)) return true;
    if (is_number && absl::SimpleAtod(word, &given) && given == number) return true;
  }
  return false;
}

std::vector<std::string> Common(const std::vector<std::string>& values,
                                const std::vector<std::string>& others) {
  std::vector<std::string> common;
  for (const std::string& value : values) {
    if (std::find(others.begin(), others.end(), value) != others.end()) common.push_back(value);
  }
  return common;
}

// Returns whether the setting is an option or a part of one, whose default is the framework's.
bool IsOfOption(std::string_view setting) {
  const std::string_view key = KeyOfSetting(setting);
  return std::any_of(kRunOptions.begin(), kRunOptions.end(),
                     [key](const RunOption& option) { return option.name == key; });
}

class Matcher {
 public:
  explicit Matcher(ImportState& state) : s_(state) {}

  void Run() {
    DropReplaced();
    for (size_t i = 0; i < s_.read.size(); ++i) {
      if (!IsReplaced(i)) Match(i);
    }
  }

 private:
  // The last of several entries of one name is the one that counts.
  void DropReplaced() {
    std::map<std::string, size_t> last;
    for (size_t i = 0; i < s_.read.size(); ++i) {
      if (s_.read[i].value == "auto") continue;  // another file says it
      const auto [found, is_new] = last.emplace(NormalName(s_.read[i].name), i);
      if (is_new) continue;
      s_.imported.entries[found->second].hint = "a later value replaces it";
      replaced_.insert(found->second);
      found->second = i;
    }
  }

  bool IsReplaced(size_t index) const { return replaced_.count(index) != 0; }

  void Match(size_t index) {
    ImportedEntry& shown = s_.imported.entries[index];
    const ConfigEntry& entry = s_.read[index];
    const NameRow* row = FindRow(s_.framework.tables, entry.name);
    if (row != nullptr) shown.key = std::string(row->setting);
    const bool says =
        row != nullptr && !row->setting.empty() && !Meanings(*row, entry.value).empty();
    if (!entry.given.empty() && (entry.left_out || !says)) {
      shown.hint = entry.given;
      return;
    }
    if (absl::StartsWith(entry.name, "$")) {
      return s_.Reject(index, absl::StrCat("may stand for any arguments; --env ",
                                           entry.unknown_variable, "=VALUE gives it"));
    }
    if (row == nullptr) {
      return s_.Reject(index,
                       absl::StrCat("is no name that the import from ", AbslView(s_.framework.name),
                                    " knows (release ", AbslView(s_.framework.release),
                                    "); whether it changes memory or time is unknown"));
    }
    shown.hint = std::string(row->hint);
    if (row->setting.empty()) return MatchWithoutSetting(index, *row);
    MatchSetting(index, *row);
  }

  void MatchSetting(size_t index, const NameRow& row) {
    ImportedEntry& shown = s_.imported.entries[index];
    const ConfigEntry& entry = s_.read[index];
    if (LeavesToOthers(row, entry.value)) {
      shown.hint = "taken from the trainer's arguments";
      s_.left_to_others.insert(std::string(row.setting));
      return;
    }
    if (s_.question.devices && IsListed("gpus nodes gpus_per_node", row.setting)) {
      shown.hint = "overridden by --gpus";
      return;
    }
    if (!entry.unknown_variable.empty()) {
      return s_.Reject(index, absl::StrCat("the file does not set ", entry.unknown_variable,
                                           "; --env ", entry.unknown_variable, "=VALUE gives it"));
    }
    if (entry.conditional) return s_.Reject(index, kConditional);
    std::vector<std::string> meanings = Meanings(row, entry.value);
    if (meanings.empty() || (row.words.empty() && entry.value.empty())) {
      return s_.Reject(index,
                       row.words.empty()
                           ? "needs a value"
                           : absl::StrCat(row.hint.empty() ? "" : std::string(row.hint) + "; ",
                                          "must be ", AcceptedWords(row)));
    }
    shown.status = EntryStatus::kUsed;
    SaidValues& said = s_.said[std::string(row.setting)];
    if (said.entries.empty()) {
      said = {std::move(meanings), {index}};
      return;
    }
    std::vector<std::string> both = Common(said.values, meanings);
    if (both.empty()) {
      return s_.Reject(index, absl::StrCat("contradicts ", s_.read[said.entries.back()].name));
    }
    said.values = std::move(both);
    said.entries.push_back(index);
  }

  bool IsRead(const std::string& path) const {
    return path == kThisFile || s_.question.files.size() > 1 ||
           std::find(s_.documents.begin(), s_.documents.end(), path) != s_.documents.end();
  }

  void MatchWithoutSetting(size_t index, const NameRow& row) {
    const ConfigEntry& entry = s_.read[index];
    if (row.effect == NameEffect::kNone) return;
    if (row.effect == NameEffect::kFile) {
      if (!IsRead(entry.value)) s_.Reject(index, "names a file, which must be given too");
      return;
    }
    if (IsGiven(row, entry.value)) {
      s_.imported.entries[index].hint = "an estimate takes it as given";
      return;
    }
    if (entry.conditional) return s_.Reject(index, kConditional);
    s_.Reject(index, std::string(row.hint));
  }

  ImportState& s_;
  std::set<size_t> replaced_;
};

bool IsSaidBy(const ImportState& state, const NameRow& row) {
  const std::string name = NormalName(row.name);
  return std::any_of(state.read.begin(), state.read.end(), [&](const ConfigEntry& entry) {
    return NormalName(entry.name) == name &&
           (entry.given.empty() || (!entry.left_out && !Meanings(row, entry.value).empty()));
  });
}

using ValuesBySetting = std::map<std::string, std::vector<std::string>>;

// Narrows the values by one name that no file has.
void NarrowByUnsaid(const ImportState& state, const NameRow& row, ValuesBySetting& values) {
  const std::string setting(row.setting);
  const std::vector<std::string> unsaid = UnsaidMeanings(row);
  if (unsaid.empty()) return;
  const auto found = values.find(setting);
  if (found == values.end()) {
    if (!IsListed(state.framework.needed, row.setting) && !IsOfOption(row.setting) &&
        state.left_to_others.count(setting) == 0) {
      values[setting] = unsaid;
    }
    return;
  }
  std::vector<std::string> both = Common(found->second, unsaid);
  if (!both.empty()) found->second = std::move(both);
}

}  // namespace

void MatchEntries(ImportState& state) { Matcher(state).Run(); }

void ChooseValues(ImportState& state) {
  ValuesBySetting values;
  for (const auto& [setting, said] : state.said) values[setting] = said.values;
  for (const absl::string_view text :
       absl::StrSplit(AbslView(state.framework.defaults), ' ', absl::SkipEmpty())) {
    const size_t sign = text.find('=');
    const std::string setting(text.substr(0, sign));
    if (values.count(setting) == 0) values[setting] = {std::string(text.substr(sign + 1))};
  }
  for (const NameTable table : state.framework.tables) {
    for (const NameRow& row : table) {
      if (row.setting.empty() || row.use == NameUse::kExport || IsSaidBy(state, row)) continue;
      NarrowByUnsaid(state, row, values);
    }
  }
  for (const auto& [setting, texts] : values) state.settings.Set(setting, texts.front());
  const ImportQuestion& question = state.question;
  if (question.seq_len) state.settings.Set("seq_len", *question.seq_len);
  if (question.global_batch) state.settings.Set("global_batch", *question.global_batch);
  if (!question.model.empty()) state.settings.Set("model", question.model);
  if (state.framework.resolve != nullptr) state.Check(state.framework.resolve(state.settings));
  for (const absl::string_view needed :
       absl::StrSplit(AbslView(state.framework.needed), ' ', absl::SkipEmpty())) {
    if (state.settings.Find(StdView(needed)) == nullptr) state.AskFor(StdView(needed));
  }
}

}  // namespace meshwright::planner
