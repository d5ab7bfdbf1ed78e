#include "planner/interchange/import.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/catalog.h"
#include "planner/interchange/file_export.h"
#include "planner/interchange/model_match.h"
#include "planner/layout/keys.h"
#include "planner/layout/mesh.h"
#include "planner/spec/number_formats.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kTrainerCall = "Trainer.Config(";

absl::StatusOr<std::vector<ConfigEntry>> ReadEntries(const Framework& framework,
                                                     const ConfigFile& file,
                                                     const Variables& environment) {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(file.text);
  const auto ends = [&](const char* end) { return absl::EndsWith(file.path, end); };
  if (absl::StartsWith(text, "{")) return ReadJsonEntries(file);
  if (ends(".yaml") || ends(".yml")) return ReadYamlEntries(file, "accelerate launch");
  if (ends(".sh") || ends(".sbatch") || absl::StartsWith(text, "#!")) {
    return ReadLaunchEntries(file, environment);
  }
  switch (framework.syntax) {
    case ConfigSyntax::kLaunchLine:
      return ReadLaunchEntries(file, environment);
    case ConfigSyntax::kJson:
      return absl::StartsWith(text, "-") ? ReadLaunchEntries(file, environment)
                                         : ReadJsonEntries(file);
    case ConfigSyntax::kYaml:
      return absl::StartsWith(text, "--") && !absl::StartsWith(text, "---")
                 ? ReadLaunchEntries(file, environment)
                 : ReadYamlEntries(file, "accelerate launch");
    case ConfigSyntax::kPython:
      return absl::StrContains(text, AbslView(kTrainerCall)) ? ReadPythonEntries(file, kTrainerCall)
                                                             : ReadLaunchEntries(file, environment);
  }
  return ReadLaunchEntries(file, environment);
}

std::string NormalName(std::string_view name) {
  while (!name.empty() && (name.front() == '-' || name.front() == '+')) name.remove_prefix(1);
  return absl::StrReplaceAll(AbslView(name), {{"_", "-"}});
}

class Importer {
 public:
  Importer(const Framework& framework, const ImportQuestion& question)
      : framework_(framework), question_(question) {}

  absl::StatusOr<Imported> Run() {
    for (const ConfigFile& file : question_.files) {
      ASSIGN_OR_RETURN(const std::vector<ConfigEntry> entries,
                       ReadEntries(framework_, file, question_.environment));
      for (const ConfigEntry& entry : entries) Add(file.path, entry);
    }
    for (const ConfigEntry& entry : question_.further) Add("--set", entry);
    DropReplaced();
    for (size_t i = 0; i < read_.size(); ++i) Match(i);
    Choose();
    if (framework_.resolve != nullptr) Check(framework_.resolve(settings_));
    CheckNeeded();
    SetRecompute();
    SetOffload();
    CountDevices();
    CountChunks();
    MakeLayout();
    MakeRequest();
    return std::move(imported_);
  }

 private:
  struct Candidates {
    std::vector<std::string> values;
    std::vector<size_t> entries;
  };

  // Arguments of the trainer that a framework's own file has stand in a section of their own.
  void Add(const std::string& file, const ConfigEntry& entry) {
    read_.push_back(entry);
    absl::string_view name = entry.name;
    if (absl::ConsumePrefix(&name, AbslView(kTrainerSection))) {
      read_.back().name = std::string(name);
    }
    ImportedEntry& shown = imported_.entries.emplace_back();
    shown.file = file;
    shown.name = entry.name;
    shown.value = entry.value;
  }

  // The last of several entries of one name is the one that counts.
  void DropReplaced() {
    std::map<std::string, size_t> last;
    for (size_t i = 0; i < read_.size(); ++i) {
      if (read_[i].value == "auto") continue;  // another file says it
      const auto [found, is_new] = last.emplace(NormalName(read_[i].name), i);
      if (is_new) continue;
      imported_.entries[found->second].hint = "a later value replaces it";
      replaced_.push_back(found->second);
      found->second = i;
    }
  }

  bool IsReplaced(size_t index) const {
    return std::find(replaced_.begin(), replaced_.end(), index) != replaced_.end();
  }

  void Reject(size_t index, std::string hint) {
    imported_.entries[index].status = EntryStatus::kRejected;
    imported_.entries[index].hint = std::move(hint);
  }

  // Rejects the entries that said the setting; adds to what is missing if none did.
  void RejectSetting(std::string_view setting, const std::string& hint) {
    const auto found = said_.find(std::string(setting));
    if (found == said_.end()) {
      imported_.missing.push_back(hint);
      return;
    }
    for (const size_t index : found->second.entries) Reject(index, hint);
  }

  // Takes an error about a setting, which its field names.
  void Check(const absl::Status& status) {
    if (!status.ok()) RejectSetting(FieldOf(status), std::string(status.message()));
  }

  void Match(size_t index) {
    ImportedEntry& shown = imported_.entries[index];
    const ConfigEntry& entry = read_[index];
    const NameRow* row = FindRow(framework_.tables, entry.name);
    if (row != nullptr) shown.key = std::string(row->setting);
    if (IsReplaced(index)) return;
    if (absl::StartsWith(entry.name, "$")) {
      return Reject(index, absl::StrCat("may hold any arguments; --env ", entry.unknown_variable,
                                        "=VALUE gives it"));
    }
    if (row == nullptr) {
      return Reject(index,
                    absl::StrCat("is no name that the import from ", AbslView(framework_.name),
                                 " knows (release ", AbslView(framework_.release),
                                 "); whether it changes memory or time is unknown"));
    }
    shown.hint = std::string(row->hint);
    if (row->setting.empty()) return MatchWithoutSetting(index, *row);
    if (LeavesToOthers(*row, entry.value)) {
      shown.hint = "a trainer's argument says it";
      left_to_others_.insert(std::string(row->setting));
      return;
    }
    if (question_.devices && IsListed("gpus nodes gpus_per_node", row->setting)) {
      shown.hint = "--gpus says it";
      return;
    }
    if (!entry.unknown_variable.empty()) {
      return Reject(index, absl::StrCat("the file does not set ", entry.unknown_variable,
                                        "; --env ", entry.unknown_variable, "=VALUE gives it"));
    }
    if (entry.conditional) return Reject(index, kConditional);
    std::vector<std::string> meanings = Meanings(*row, entry.value);
    if (meanings.empty() || (row->words.empty() && entry.value.empty())) {
      return Reject(index,
                    row->words.empty()
                        ? "needs a value"
                        : absl::StrCat(row->hint.empty() ? "" : std::string(row->hint) + "; ",
                                       "must be ", AcceptedWords(*row)));
    }
    shown.status = EntryStatus::kUsed;
    Candidates& said = said_[std::string(row->setting)];
    if (said.entries.empty()) {
      said = {std::move(meanings), {index}};
      return;
    }
    std::vector<std::string> both = Common(said.values, meanings);
    if (both.empty()) {
      return Reject(index, absl::StrCat("contradicts ", read_[said.entries.back()].name));
    }
    said.values = std::move(both);
    said.entries.push_back(index);
  }

  // Returns whether the value says that another file has the value, as DeepSpeed's auto does.
  static bool LeavesToOthers(const NameRow& row, const std::string& value) {
    return value == "auto" && (row.words.empty() || Meanings(row, value).empty());
  }

  static constexpr char kConditional[] =
      "the script adds it under a condition that the file does not decide; --env NAME=VALUE gives "
      "a variable";

  void MatchWithoutSetting(size_t index, const NameRow& row) {
    const ConfigEntry& entry = read_[index];
    ImportedEntry& shown = imported_.entries[index];
    if (row.effect == NameEffect::kNone) return;
    if (row.effect == NameEffect::kFile) {
      if (question_.files.size() < 2 && entry.value != kThisFile)
        Reject(index, "names a file, which must be given too");
      return;
    }
    if (IsGiven(row, entry.value)) {
      shown.hint = "an estimate takes it as given";
      return;
    }
    if (entry.conditional) return Reject(index, kConditional);
    Reject(index, std::string(row.hint));
  }

  // Returns whether the value is one of those that an estimate takes as given.
  static bool IsGiven(const NameRow& row, const std::string& value) {
    double number = 0.0;
    const bool is_number = absl::SimpleAtod(value, &number);
    for (const absl::string_view word :
         absl::StrSplit(AbslView(row.words), ' ', absl::SkipEmpty())) {
      double given = 0.0;
      if (absl::EqualsIgnoreCase(word, value)) return true;
      if (is_number && absl::SimpleAtod(word, &given) && given == number) return true;
    }
    return false;
  }

  static std::vector<std::string> Common(const std::vector<std::string>& values,
                                         const std::vector<std::string>& others) {
    std::vector<std::string> common;
    for (const std::string& value : values) {
      if (std::find(others.begin(), others.end(), value) != others.end()) common.push_back(value);
    }
    return common;
  }

  bool IsListed(std::string_view list, std::string_view setting) const {
    for (const absl::string_view one : absl::StrSplit(AbslView(list), ' ')) {
      if (StdView(one) == setting) return true;
    }
    return false;
  }

  // Returns whether the setting is an option or a part of one, whose default is the framework's.
  static bool IsOfOption(std::string_view setting) {
    const std::string_view key = KeyOfSetting(setting);
    return std::any_of(kRunOptions.begin(), kRunOptions.end(),
                       [key](const RunOption& option) { return option.name == key; });
  }

  bool IsSaidBy(const NameRow& row) const {
    const std::string name = NormalName(row.name);
    return std::any_of(read_.begin(), read_.end(),
                       [&](const ConfigEntry& entry) { return NormalName(entry.name) == name; });
  }

  // Narrows the values of every setting by the names that are left out, and chooses the likeliest.
  void Choose() {
    std::map<std::string, std::vector<std::string>> values;
    for (const auto& [setting, said] : said_) values[setting] = said.values;
    for (const absl::string_view text :
         absl::StrSplit(AbslView(framework_.defaults), ' ', absl::SkipEmpty())) {
      const size_t sign = text.find('=');
      const std::string setting(text.substr(0, sign));
      if (values.count(setting) == 0) values[setting] = {std::string(text.substr(sign + 1))};
    }
    for (const NameTable table : framework_.tables) {
      for (const NameRow& row : table) {
        if (row.setting.empty() || row.use == NameUse::kExport || IsSaidBy(row)) continue;
        const std::string setting(row.setting);
        const std::vector<std::string> unsaid = UnsaidMeanings(row);
        if (unsaid.empty()) continue;
        const auto found = values.find(setting);
        if (found == values.end()) {
          if (!IsListed(framework_.needed, row.setting) && !IsOfOption(row.setting) &&
              left_to_others_.count(setting) == 0) {
            values[setting] = unsaid;
          }
          continue;
        }
        std::vector<std::string> both = Common(found->second, unsaid);
        if (!both.empty()) found->second = std::move(both);
      }
    }
    for (const auto& [setting, texts] : values) settings_.Set(setting, texts.front());
    if (question_.seq_len) settings_.Set("seq_len", *question_.seq_len);
    if (question_.global_batch) settings_.Set("global_batch", *question_.global_batch);
    if (!question_.model.empty()) settings_.Set("model", question_.model);
  }

  void CheckNeeded() {
    for (const absl::string_view needed :
         absl::StrSplit(AbslView(framework_.needed), ' ', absl::SkipEmpty())) {
      if (settings_.Find(StdView(needed)) == nullptr) AskFor(StdView(needed));
    }
  }

  // Adds a sentence that asks for a setting by the framework's own name of it.
  void AskFor(std::string_view setting) {
    lacks_ = true;
    for (const NameTable table : framework_.tables) {
      for (const NameRow& row : table) {
        if (row.setting != setting || row.use != NameUse::kBoth) continue;
        imported_.missing.push_back(absl::StrCat(AbslView(row.name), " is not said; --set ",
                                                 NormalSet(row.name), "=VALUE gives it"));
        return;
      }
    }
    imported_.missing.push_back(absl::StrCat(AbslView(setting), " is not said"));
  }

  static std::string NormalSet(std::string_view name) {
    while (!name.empty() && name.front() == '-') name.remove_prefix(1);
    return std::string(name);
  }

  void SetRecompute() {
    if (settings_.Find("rc") != nullptr || settings_.Find("recompute") == nullptr) return;
    const std::string granularity = settings_.TextOf("recompute", "none");
    const std::string method = settings_.TextOf("recompute_method", "none");
    const std::string layers = settings_.TextOf("recompute_layers", "1");
    if (granularity == "none") {
      settings_.Set("rc", "none");
    } else if (granularity == "selective") {
      const std::string* modules = settings_.Find("recompute_modules");
      settings_.Set("rc",
                    modules == nullptr ? "selective" : absl::StrReplaceAll(*modules, {{" ", "+"}}));
    } else if (method == "block") {
      settings_.Set("rc", absl::StrCat("block:", layers));
    } else {
      settings_.Set("rc", "full");
      if (layers != "1") {
        RejectSetting("recompute_layers",
                      "an estimate recomputes each layer from its own input; must be 1");
      }
    }
  }

  void SetOffload() {
    std::vector<std::string> parts;
    if (const std::string* layers = settings_.Find("offload_layers")) {
      if (*layers != "0") parts.push_back(absl::StrCat("act:", *layers));
    }
    if (settings_.IsOn("offload_all")) {
      parts.emplace_back("opt+param+grad");
    } else if (settings_.IsOn("offload_parameters")) {
      parts.emplace_back("opt+param");
      if (!settings_.IsOn("offload_optimizer")) {
        RejectSetting("offload_parameters",
                      "an estimate moves weights with the optimizer's states alone");
      }
    } else if (settings_.IsOn("offload_optimizer")) {
      parts.emplace_back("opt");
    }
    if (!parts.empty()) settings_.Set("offload", absl::StrJoin(parts, "+"));
  }

  int64_t CountOr(std::string_view setting, int64_t otherwise) const {
    return settings_.CountOf(setting).value_or(otherwise);
  }

  // Finds the devices and dp, each from the other or from the batch.
  void CountDevices() {
    if (!settings_.CountOf("mb") && !IsListed(framework_.needed, "mb")) AskFor("mb");
    const int64_t stage = CountOr("tp", 1) * CountOr("cp", 1);
    if (stage > kMostCounted || stage * CountOr("pp", 1) > kMostCounted) return TooMany();
    const int64_t others = stage * CountOr("pp", 1);
    const auto shards = settings_.CountOf("shards");
    const auto copies = settings_.CountOf("copies");
    int64_t devices = question_.devices.value_or(CountOr("gpus", 0));
    if (devices == 0 && settings_.CountOf("gpus_per_node")) {
      devices = CountOr("gpus_per_node", 1) * CountOr("nodes", 1);
    }
    const int64_t micro = CountOr("mb", 1) * CountOr("accumulation", 1);
    int64_t dp = 0;
    if (devices == 0 && settings_.CountOf("dp")) {
      dp = CountOr("dp", 1);
    } else if (devices > 0) {
      dp = devices / others;
      if (devices % others != 0) {
        lacks_ = true;
        imported_.missing.push_back(absl::StrCat(devices,
                                                 " devices can't be divided by tp * cp * pp, ",
                                                 others, "; --gpus N says how many there are"));
        return;
      }
    } else if (shards && copies) {
      dp = *shards * *copies;
    } else if (settings_.CountOf("global_batch") && settings_.CountOf("accumulation") &&
               settings_.CountOf("mb") && CountOr("global_batch", 1) % micro == 0) {
      dp = CountOr("global_batch", 1) / micro;
    }
    if (dp > kMostCounted / others) return TooMany();
    if (dp == 0) {
      lacks_ = true;
      imported_.missing.emplace_back("the number of devices is not said; --gpus N gives it");
      return;
    }
    settings_.Set("dp", dp);
    imported_.devices = dp * others;
    if (!copies && shards && dp % *shards == 0) settings_.Set("copies", dp / *shards);
    if (copies && shards && *copies * *shards != dp) {
      RejectSetting("shards", absl::StrCat(*copies, " * ", *shards, " ranks are not the ", dp,
                                           " of dp on ", devices, " devices"));
    }
    CountBatch(dp);
    ShardStates(dp);
  }

  void TooMany() {
    lacks_ = true;
    imported_.missing.push_back(
        absl::StrCat("the layout has more than ", kMostCounted, " devices; --gpus N is fewer"));
  }

  void CountBatch(int64_t dp) {
    const auto accumulation = settings_.CountOf("accumulation");
    const auto micro = settings_.CountOf("mb");
    const auto batch = settings_.CountOf("global_batch");
    const auto rank_batch = settings_.CountOf("rank_batch");
    const int64_t step = accumulation.value_or(1) * micro.value_or(1);
    if (step > kMostCounted) {
      RejectSetting("accumulation", absl::StrCat("makes more than ", kMostCounted, " sequences"));
    } else if (!batch && rank_batch) {
      settings_.Set("global_batch", *rank_batch * dp);
    } else if (!batch && accumulation && micro) {
      settings_.Set("global_batch", step * dp);
    } else if (batch && micro && *batch % (*micro * dp) != 0) {
      RejectSetting("global_batch", absl::StrCat("must be a multiple of ", *micro, " * ", dp,
                                                 ", the micro-batch on every rank of dp"));
    } else if (batch && micro && accumulation && step * dp != *batch &&
               said_.count("accumulation") != 0) {
      RejectSetting("accumulation", absl::StrCat("must be ", *batch / (*micro * dp), " on ", dp,
                                                 " ranks of dp for a batch of ", *batch));
    }
  }

  // Nothing is sharded on one rank. With copies, states are divided among the ranks of one copy.
  void ShardStates(int64_t dp) {
    const int64_t replicas = dp * CountOr("cp", 1);
    if (replicas == 1) settings_.Set("zero", "0");
    const int64_t copies = CountOr("copies", 1);
    if (settings_.TextOf("zero", "0") == "0" || copies == 1) return;
    if (replicas % copies != 0) {
      RejectSetting("copies", absl::StrCat("must divide the ", replicas, " ranks of dp * cp"));
    } else if (replicas / copies == 1) {
      settings_.Set("zero", "0");
    } else {
      settings_.Set("hs", replicas / copies);
    }
  }

  void CountChunks() {
    const auto chunk = settings_.CountOf("chunk_layers");
    const auto layers = settings_.CountOf("layers");
    const int64_t pp = CountOr("pp", 1);
    if (chunk && !layers) return RejectSetting("chunk_layers", "needs the number of layers");
    if (chunk && *layers % (pp * *chunk) != 0) {
      return RejectSetting("chunk_layers",
                           absl::StrCat("must divide the ", *layers, " layers over pp ", pp));
    }
    if (chunk) settings_.Set("vpp", *layers / (pp * *chunk));
    if (settings_.Find("sched") == nullptr) {
      settings_.Set("sched", CountOr("vpp", 1) > 1 ? "interleaved" : "1f1b");
    }
    const bool has_experts = settings_.CountOf("experts") || CountOr("ep", 1) > 1;
    if (settings_.Find("etp") != nullptr || !has_experts) return;
    const absl::StatusOr<FrameworkProfile> profile = FindProfile(framework_.profile);
    if (profile.ok() && profile->supports.etp_follows_tp) settings_.Set("etp", CountOr("tp", 1));
  }

  void MakeLayout() {
    Layout layout;
    for (const LayoutKey& key : kLayoutKeys) {
      const std::string* text = settings_.Find(key.name);
      if (text == nullptr || *text == ConditionText(key, Layout())) continue;
      const absl::Status status = ReadValue(key, *text, layout);
      if (status.ok()) continue;
      RejectSetting(SaidPartOf(key.name), std::string(status.message()));
      lacks_ = true;
    }
    if (!lacks_) imported_.layout = layout;
  }

  // Returns the setting that a file said: the key itself, or a part of it.
  std::string_view SaidPartOf(std::string_view key) const {
    if (said_.count(std::string(key)) != 0) return key;
    for (const FurtherSetting& further : kFurtherSettings) {
      if (further.part_of == key && said_.count(std::string(further.name)) != 0)
        return further.name;
    }
    return key;
  }

  void SetStates() {
    std::vector<std::string> parts;
    const auto add = [&](std::string_view part, std::string_view setting) {
      if (const std::string* format = settings_.Find(setting)) {
        parts.push_back(absl::StrCat(AbslView(part), "=", *format));
      }
    };
    add("master", "state_master");
    add("grad", "state_grad");
    add("m", "state_m");
    add("v", "state_v");
    if (!parts.empty()) settings_.Set("states", absl::StrJoin(parts, ","));
  }

  void MakeRequest() {
    imported_.seq_len = CountOr("seq_len", 0);
    imported_.global_batch = CountOr("global_batch", 0);
    imported_.dtype = settings_.TextOf("dtype", "");
    if (imported_.seq_len == 0) {
      imported_.missing.emplace_back(
          "the tokens of a sequence are not said; --seq-len S gives them");
    }
    if (imported_.global_batch == 0) {
      imported_.missing.emplace_back(
          "the sequences of a step are not said; --global-batch B gives them");
    }
    if (imported_.dtype.empty()) {
      imported_.missing.emplace_back(
          "the number format is not said; --set gives the framework's name of it");
    }
    imported_.model = settings_.TextOf("model", "");
    if (imported_.model.empty()) imported_.model = MatchingPreset(settings_);
    if (imported_.model.empty()) {
      imported_.missing.emplace_back("no preset is this model; --model FILE names its config.json");
    }
    SetStates();
    RunOptions options;
    for (const RunOption& option : kRunOptions) {
      const std::string* text = settings_.Find(option.name);
      if (text == nullptr) continue;
      const absl::Status status = option.read(*text, options);
      if (!status.ok()) RejectSetting(SaidPartOf(option.name), std::string(status.message()));
    }
    for (const RunOption& option : kRunOptions) {
      if (!HasDefault(option, options)) {
        imported_.options.emplace_back(std::string(option.name), option.text(options));
      }
    }
  }

  const Framework& framework_;
  const ImportQuestion& question_;
  std::vector<ConfigEntry> read_;
  std::vector<size_t> replaced_;
  std::map<std::string, Candidates> said_;
  std::set<std::string> left_to_others_;  // settings that an entry leaves to another file
  Settings settings_;
  Imported imported_;
  bool lacks_ = false;  // whether something is missing without which there is no layout
};

}  // namespace

bool Imported::rejects() const {
  return std::any_of(entries.begin(), entries.end(), [](const ImportedEntry& entry) {
    return entry.status == EntryStatus::kRejected;
  });
}

bool Imported::complete() const { return layout && missing.empty() && !rejects(); }

absl::StatusOr<Imported> Import(const Framework& framework, const ImportQuestion& question) {
  return Importer(framework, question).Run();
}

}  // namespace meshwright::planner
