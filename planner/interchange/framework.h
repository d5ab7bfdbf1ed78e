// Framework describes a framework to the export and the import: its tables of names, and code where
// its names need arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "planner/catalog/config_keys.h"
#include "planner/containers/enum_set.h"
#include "planner/interchange/export_job.h"
#include "planner/interchange/exported_job.h"
#include "planner/interchange/name_table.h"
#include "planner/interchange/settings.h"
#include "planner/profile/model_part.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

enum class ConfigSyntax : uint8_t { kLaunchLine, kJson, kYaml, kPython };

struct Framework {
  std::string_view name;     // the value of --to and --from
  std::string_view release;  // whose names the tables have
  std::string_view profile;  // whose rules its layouts must keep
  // Further profiles that describe a version or a mode of the framework, separated by blanks.
  std::string_view further_profiles = {};
  // Returns the profile of a layout, if it depends on the layout. Null: `profile` for all layouts.
  std::string_view (*profile_of)(const Layout& layout) = nullptr;
  std::string_view lacks;  // begins the message about what the framework can't express
  ConfigSyntax syntax = ConfigSyntax::kLaunchLine;
  // The tables of names. An import reads all of them; an export writes the first `written` tables.
  std::array<NameTable, 4> tables = {};
  size_t written = 1;
  // Keys and options that the framework expresses without a name for them, such as dp, separated by
  // blanks.
  std::string_view implied = {};
  // Settings that a file may leave out, with the framework's default values: "mb=8 accumulation=1".
  std::string_view defaults = {};
  // Settings that a file must give, because otherwise another file of the framework decides them.
  std::string_view needed = {};

  // What exports write about a model. If `loads_models` is true, the framework reads the model's
  // own config.json, and the export writes nothing about the model.
  bool loads_models = false;
  KeyUser keys = KeyUser::kEstimate;
  EnumSet<ModelPart> parts = {};
  EnumSet<FfnKind> ffns = {};
  EnumSet<Precision> precisions = {};

  // Changes the settings of a job where the framework counts differently, and refuses what the
  // framework lacks. Null: nothing to do.
  absl::Status (*prepare)(const ExportJob& job, Settings& settings) = nullptr;
  // REQUIRES: `prepare` accepted the job.
  absl::StatusOr<ExportedJob> (*write)(const ExportJob& job, const Settings& settings) = nullptr;
  // After an import, converts settings from the framework's way of counting to the layout's. Null:
  // nothing to do.
  absl::Status (*resolve)(Settings& settings) = nullptr;
};

const Framework& MegatronFramework();
const Framework& BridgeFramework();
const Framework& TorchtitanFramework();
const Framework& AccelerateFramework();
const Framework& DeepspeedFramework();
const Framework& LlamaFactoryFramework();
const Framework& AxolotlFramework();
const Framework& SwiftFramework();
const Framework& VerlFramework();
const Framework& AutomodelFramework();
const Framework& NanotronFramework();

// Returns all frameworks, in the order of ExportTarget.
const std::vector<const Framework*>& Frameworks();
// Returns the names of all frameworks, for a message that says what is accepted: "a, b or c".
std::string FrameworkNamesInWords();
// Returns whether an export to the framework can write the setting.
bool WritesSetting(const Framework& framework, std::string_view setting);
// Returns the framework with this name, or else all frameworks that the profile with this name
// describes. `name` may be any name of the profile (planner/catalog/profile_names.h); case and the
// signs between words do not matter. The list is empty if the name stands for no framework that has
// an export.
std::vector<const Framework*> FrameworksNamed(std::string_view name);
// Returns the first of FrameworksNamed(). If there is none, returns InvalidArgument about `flag`,
// which lists the frameworks.
absl::StatusOr<const Framework*> FindFramework(std::string_view flag, std::string_view name);

// NameRow::hint of rows in several tables.
inline constexpr std::string_view kGiven = "an estimate takes it as given";
inline constexpr std::string_view kUnplanned =
    "changes memory or time in a way that the planner does not model";

inline constexpr std::string_view kModels = "the model's";
inline constexpr std::string_view kAdapters =
    "not imported; pass --train to `estimate` or `recommend` instead";

// NameRow::of for names that no file has and that the user of an import gives in addition to it.
inline constexpr std::string_view kGivenName = "the import's flags";

// The names of the programs that start the ranks: torchrun, accelerate launch, deepspeed.
NameTable LauncherNames();
// The arguments of Hugging Face's Trainer and of TRL's.
NameTable TrainerNames();

// The keys of DeepSpeed's file, which other frameworks take too.
NameTable DeepspeedNames();

// The prefix of the Trainer's arguments in DeepSpeed's file, where they stand in a section of their
// own, which DeepSpeed ignores.
inline constexpr std::string_view kTrainerSection = "trainer_arguments.";

// Returns the Trainer's arguments for the settings.
absl::StatusOr<std::vector<Spelling>> TrainerArguments(const Settings& settings);
// Returns TrainerArguments() as arguments of a command line, one flag with its value on a line.
absl::StatusOr<std::vector<std::vector<std::string>>> TrainerArgumentLines(
    const Settings& settings);

}  // namespace meshwright::planner
