#include "planner/interchange/import.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/interchange/adapter_settings.h"
#include "planner/interchange/config_files.h"
#include "planner/interchange/import_counts.h"
#include "planner/interchange/import_match.h"
#include "planner/interchange/import_state.h"
#include "planner/interchange/model_match.h"
#include "planner/layout/keys.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {
namespace {

// Arguments of the trainer that a framework's own file has stand in a section of their own.
void AddEntry(const std::string& file, const ConfigEntry& entry, ImportState& state) {
  state.read.push_back(entry);
  absl::string_view name = entry.name;
  if (absl::ConsumePrefix(&name, AbslView(kTrainerSection))) {
    state.read.back().name = std::string(name);
  }
  ImportedEntry& shown = state.imported.entries.emplace_back();
  shown.file = file;
  shown.name = entry.name;
  shown.value = entry.value;
}

// Reads the files, and those that a script writes where the framework has files of its own.
absl::Status ReadFiles(ImportState& state) {
  std::vector<ConfigFile> documents;
  const auto read = [&](const ConfigFile& file) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<ConfigEntry> entries,
                     ReadConfigFile(state.framework, file, state.question.environment, documents));
    for (const ConfigEntry& entry : entries) AddEntry(file.path, entry, state);
    return absl::OkStatus();
  };
  for (const ConfigFile& file : state.question.files) RETURN_IF_ERROR(read(file));
  if (state.framework.syntax == ConfigSyntax::kLaunchLine) return absl::OkStatus();
  for (const ConfigFile& document : std::exchange(documents, {})) {
    RETURN_IF_ERROR(read(document));
    state.documents.push_back(document.path);
  }
  return absl::OkStatus();
}

void SetRecompute(ImportState& state) {
  if (state.settings.Find("rc") != nullptr || state.settings.Find("recompute") == nullptr) return;
  const std::string granularity = state.settings.TextOf("recompute", "none");
  const std::string method = state.settings.TextOf("recompute_method", "none");
  const std::string layers = state.settings.TextOf("recompute_layers", "1");
  if (granularity == "none") {
    state.settings.Set("rc", "none");
  } else if (granularity == "selective") {
    const std::string* modules = state.settings.Find("recompute_modules");
    state.settings.Set(
        "rc", modules == nullptr ? "selective" : absl::StrReplaceAll(*modules, {{" ", "+"}}));
  } else if (method == "block") {
    state.settings.Set("rc", absl::StrCat("block:", layers));
  } else {
    state.settings.Set("rc", "full");
    if (layers != "1") {
      state.RejectSetting(
          "recompute_layers",
          "the planner models recompute of each layer from the layer's own input; must be 1");
    }
  }
}

void SetOffload(ImportState& state) {
  std::vector<std::string> parts;
  if (const std::string* layers = state.settings.Find("offload_layers")) {
    if (*layers != "0") parts.push_back(absl::StrCat("act:", *layers));
  }
  if (state.settings.IsOn("offload_all")) {
    parts.emplace_back("opt+param+grad");
  } else if (state.settings.IsOn("offload_parameters")) {
    parts.emplace_back("opt+param");
    if (!state.settings.IsOn("offload_optimizer")) {
      state.RejectSetting("offload_parameters",
                          "the planner offloads weights only together with the optimizer's states");
    }
  } else if (state.settings.IsOn("offload_optimizer")) {
    parts.emplace_back("opt");
  }
  if (!parts.empty()) state.settings.Set("offload", absl::StrJoin(parts, "+"));
}

// Returns the setting that a file said: the key itself, or a part of it.
std::string_view SaidPartOf(const ImportState& state, std::string_view key) {
  if (state.said.count(std::string(key)) != 0) return key;
  for (const FurtherSetting& further : kFurtherSettings) {
    if (further.part_of == key && state.said.count(std::string(further.name)) != 0)
      return further.name;
  }
  return key;
}

void MakeLayout(ImportState& state) {
  Layout layout;
  for (const LayoutKey& key : kLayoutKeys) {
    const std::string* text = state.settings.Find(key.name);
    if (text == nullptr || *text == ConditionText(key, Layout())) continue;
    const absl::Status status = ReadValue(key, *text, layout);
    if (status.ok()) continue;
    state.RejectSetting(SaidPartOf(state, key.name), std::string(status.message()));
    state.lacks = true;
  }
  if (!state.lacks) state.imported.layout = layout;
}

void SetStates(ImportState& state) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view part, std::string_view setting) {
    if (const std::string* format = state.settings.Find(setting)) {
      parts.push_back(absl::StrCat(AbslView(part), "=", *format));
    }
  };
  add("master", "state_master");
  add("grad", "state_grad");
  add("m", "state_m");
  add("v", "state_v");
  if (!parts.empty()) state.settings.Set("states", absl::StrJoin(parts, ","));
}

void MakeRequest(ImportState& state) {
  state.imported.seq_len = state.CountOr("seq_len", 0);
  state.imported.global_batch = state.CountOr("global_batch", 0);
  state.imported.dtype = state.settings.TextOf("dtype", "");
  if (state.imported.seq_len == 0) {
    state.imported.missing.emplace_back("the sequence length is missing; --seq-len S gives it");
  }
  if (state.imported.global_batch == 0) {
    state.imported.missing.emplace_back("the global batch is missing; --global-batch B gives it");
  }
  if (state.imported.dtype.empty()) {
    state.imported.missing.emplace_back(
        "the number format is missing; --set NAME=VALUE gives it with the framework's name");
  }
  state.imported.model = state.settings.TextOf("model", "");
  if (state.imported.model.empty()) state.imported.model = MatchingPreset(state.settings);
  if (state.imported.model.empty()) {
    state.imported.missing.emplace_back(
        "no preset matches this model; --model FILE gives its config.json");
  }
}

void MakeOptions(ImportState& state) {
  SetStates(state);
  ResolveAdapter(state.settings);
  RunOptions options;
  for (const RunOption& option : kRunOptions) {
    const std::string* text = state.settings.Find(option.name);
    if (text == nullptr) continue;
    const absl::Status status = option.read(*text, options);
    if (!status.ok())
      state.RejectSetting(SaidPartOf(state, option.name), std::string(status.message()));
  }
  for (const RunOption& option : kRunOptions) {
    if (!HasDefault(option, options)) {
      state.imported.options.emplace_back(std::string(option.name), option.text(options));
    }
  }
}

}  // namespace

absl::StatusOr<Imported> Import(const Framework& framework, const ImportQuestion& question) {
  ImportState state(framework, question);
  RETURN_IF_ERROR(ReadFiles(state));
  for (const ConfigEntry& entry : question.further) AddEntry("--set", entry, state);
  MatchEntries(state);
  ChooseValues(state);
  SetRecompute(state);
  SetOffload(state);
  CountDevices(state);
  CountChunks(state);
  MakeLayout(state);
  MakeRequest(state);
  MakeOptions(state);
  return std::move(state.imported);
}

}  // namespace meshwright::planner
