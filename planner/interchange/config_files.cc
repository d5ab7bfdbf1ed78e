#include "planner/interchange/config_files.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/interchange/argument_defaults.h"
#include "planner/interchange/log_entries.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kTrainerCall = "Trainer.Config(";
// A saved configuration of Megatron-Bridge names the class of every section.
constexpr std::string_view kBridgeClass = "_target_: megatron.bridge.";

// A word that files of one framework alone have.
struct OwnWord {
  std::string_view word;
  std::string_view framework;
};

constexpr OwnWord kOwnWords[] = {
    {"pretrain_gpt.py", "megatron"},
    {"pretrain_hybrid.py", "megatron"},
    {"pretrain_mamba.py", "megatron"},
    {"------------------------ arguments ------------------------", "megatron"},
    {kBridgeClass, "megatron-bridge"},
    {"run_recipe.py", "megatron-bridge"},
    {"torchtitan", "torchtitan"},
    {"Trainer.Config(", "torchtitan"},
    {"Running with configs: {", "torchtitan"},
    {"compute_environment:", "accelerate"},
    {"distributed_type:", "accelerate"},
    {"\"zero_optimization\"", "deepspeed"},
    {"llamafactory-cli", "llamafactory"},
    {"finetuning_type:", "llamafactory"},
    {"axolotl", "axolotl"},
    {"megatron sft", "ms-swift"},
    {"megatron pt", "ms-swift"},
    {"megatron rlhf", "ms-swift"},
    {"verl.trainer.", "verl"},
    {"nemo_automodel", "automodel"},
    {"tp_linear_async_communication", "nanotron"},
    {"pp_engine:", "nanotron"},
};

bool IsBinary(absl::string_view text) {
  return absl::StartsWith(text, "PK\x03\x04") || absl::StartsWith(text, "\x80") ||
         text.substr(0, 4096).find('\0') != absl::string_view::npos;
}

// Of a saved configuration, defaults are no choice, and names of classes say nothing of a run.
absl::StatusOr<std::vector<ConfigEntry>> ReadSavedBridge(const ConfigFile& file) {
  ASSIGN_OR_RETURN(const std::vector<ConfigEntry> saved,
                   ReadYamlEntries(file, "accelerate launch"));
  std::vector<ConfigEntry> entries;
  for (const ConfigEntry& entry : saved) {
    entries.push_back(ArgumentDefaults::Of("megatron-bridge").EntryOf(entry.name, entry.value));
    for (const char* of_class : {"_target_", "_call_", "_args_", "_name_"}) {
      if (absl::EndsWith(entry.name, of_class)) entries.back().given = "names a class";
    }
  }
  return entries;
}

}  // namespace

absl::StatusOr<std::vector<ConfigEntry>> ReadConfigFile(const Framework& framework,
                                                        const ConfigFile& file,
                                                        const Variables& environment,
                                                        std::vector<ConfigFile>& documents) {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(file.text);
  const auto ends = [&](const char* end) { return absl::EndsWith(file.path, end); };
  if (IsBinary(text)) {
    return FieldError("file", file.path,
                      "is not text, and a pickle is never read; must be the script, the "
                      "configuration or the training log, whose first lines list the arguments");
  }
  if (absl::StartsWith(text, "{")) return ReadJsonEntries(file);
  if (absl::StrContains(text, AbslView(kBridgeClass))) return ReadSavedBridge(file);
  if (ends(".yaml") || ends(".yml")) return ReadYamlEntries(file, "accelerate launch");
  if (ends(".sh") || ends(".sbatch") || absl::StartsWith(text, "#!")) {
    return ReadLaunchEntries(file, environment, &documents);
  }
  if (framework.syntax == ConfigSyntax::kPython &&
      absl::StrContains(text, AbslView(kTrainerCall))) {
    return ReadPythonEntries(file, kTrainerCall);
  }
  if (IsTrainingLog(StdView(text))) return ReadLogEntries(file);
  const bool has_flags = absl::StartsWith(text, "--") && !absl::StartsWith(text, "---");
  if (framework.syntax == ConfigSyntax::kYaml && !has_flags) {
    return ReadYamlEntries(file, "accelerate launch");
  }
  if (framework.syntax == ConfigSyntax::kJson && !absl::StartsWith(text, "-")) {
    return ReadJsonEntries(file);
  }
  return ReadLaunchEntries(file, environment, &documents);
}

absl::StatusOr<const Framework*> FrameworkOfFiles(const std::vector<ConfigFile>& files) {
  std::vector<std::string_view> names;
  for (const OwnWord& own : kOwnWords) {
    const bool has = std::any_of(files.begin(), files.end(), [&](const ConfigFile& file) {
      return absl::StrContains(file.text, AbslView(own.word));
    });
    if (has && std::find(names.begin(), names.end(), own.framework) == names.end()) {
      names.push_back(own.framework);
    }
  }
  if (names.size() == 1) return FindFramework("from", names.front());
  std::vector<std::string_view> all;
  for (const Framework* framework : Frameworks()) all.push_back(framework->name);
  return FieldError("from", "(absent)",
                    absl::StrCat(names.empty() ? "the files have names of no framework"
                                               : absl::StrCat("the files have names of ",
                                                              ListInWords(names, "and")),
                                 "; must be ", ListInWords(all, "or")));
}

}  // namespace meshwright::planner
