// Framework is what an export to a framework and an import from it need to know of it: its tables
// of names, and code where its names need arithmetic.
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
  std::string_view name;     // of --to and --from
  std::string_view release;  // whose names the tables have
  std::string_view profile;  // whose rules its layouts must keep
  // Further profiles that describe a version or a mode of it, with blanks between.
  std::string_view further_profiles = {};
  // Returns the profile of a layout, where layouts have several. Null: `profile` for all.
  std::string_view (*profile_of)(const Layout& layout) = nullptr;
  std::string_view lacks;  // begins the sentence about what it can't say
  ConfigSyntax syntax = ConfigSyntax::kLaunchLine;
  // The tables of names. An import reads all of them, an export writes the first `written`.
  std::array<NameTable, 4> tables = {};
  size_t written = 1;
  // Keys and options that the framework has in no name of its own, such as dp, with blanks between.
  std::string_view implied = {};
  // Settings that a file may leave out, with the framework's values: "mb=8 accumulation=1".
  std::string_view defaults = {};
  // Settings that a file must say because another file of the framework has them otherwise.
  std::string_view needed = {};

  // What exports say of a model. Where `loads_models` holds, the framework reads the model's own
  // config.json, and the export says nothing of it.
  bool loads_models = false;
  KeyUser keys = KeyUser::kEstimate;
  EnumSet<ModelPart> parts = {};
  EnumSet<FfnKind> ffns = {};
  EnumSet<Precision> precisions = {};

  // Changes the settings of a job where the framework counts in another way, and refuses what it
  // lacks. Null: nothing to do.
  absl::Status (*prepare)(const ExportJob& job, Settings& settings) = nullptr;
  // REQUIRES: `prepare` accepted the job.
  absl::StatusOr<ExportedJob> (*write)(const ExportJob& job, const Settings& settings) = nullptr;
  // Turns the framework's own way of counting into settings of the layout, after an import. Null:
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
// Returns the names of all frameworks, for a sentence about what is accepted: "a, b or c".
std::string FrameworkNamesInWords();
// Returns whether an export has a name for the setting.
bool WritesSetting(const Framework& framework, std::string_view setting);
// Returns the frameworks that a name stands for: the one of this name, or those that the profile of
// this name describes. A profile may have another of its names (planner/catalog/profile_names.h),
// and neither case nor signs between words matter. The list is empty for profiles of programs that
// no export is for.
std::vector<const Framework*> FrameworksNamed(std::string_view name);
// Returns the first of FrameworksNamed(). Returns InvalidArgument about `flag`, which lists the
// frameworks, if there is none.
absl::StatusOr<const Framework*> FindFramework(std::string_view flag, std::string_view name);

// Reasons that several tables have.
inline constexpr std::string_view kGiven = "an estimate takes it as given";
inline constexpr std::string_view kUnplanned = "changes memory or time, which no estimate follows";

inline constexpr std::string_view kModels = "the model's";
inline constexpr std::string_view kAdapters =
    "the import knows no adapters; --train of estimate and recommend says them";

// Of names that a user of the import gives beside a file.
inline constexpr std::string_view kGivenName = "the import's flags";

// The names of the programs that start the ranks: torchrun, accelerate launch, deepspeed.
NameTable LauncherNames();
// The arguments of Hugging Face's Trainer and of TRL's.
NameTable TrainerNames();

// The keys of DeepSpeed's file, which other frameworks take too.
NameTable DeepspeedNames();

// Begins the names of trainer arguments in a file of another syntax, which ignores the section.
inline constexpr std::string_view kTrainerSection = "trainer_arguments.";

// Returns the trainer's arguments for the settings.
absl::StatusOr<std::vector<Spelling>> TrainerArguments(const Settings& settings);
// Returns the same as words, one argument on a line.
absl::StatusOr<std::vector<std::vector<std::string>>> TrainerArgumentLines(
    const Settings& settings);

}  // namespace meshwright::planner
