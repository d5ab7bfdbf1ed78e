#include "planner/interchange/export.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/catalog.h"
#include "planner/interchange/adapter_settings.h"
#include "planner/interchange/aside_keys.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/launch_script.h"
#include "planner/interchange/trained_check.h"
#include "planner/layout/keys.h"
#include "planner/profile/context.h"
#include "planner/profile/model_part.h"
#include "planner/profile/part_refusal.h"
#include "planner/rules/rule_list.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {
namespace {

const Framework& FrameworkOf(ExportTarget target) {
  return *Frameworks()[static_cast<size_t>(target)];
}

absl::Status CheckRuns(const Framework& framework, const ExportJob& job) {
  ASSIGN_OR_RETURN(const FrameworkProfile profile,
                   FindProfile(framework.profile_of == nullptr ? framework.profile
                                                               : framework.profile_of(job.layout)));
  const ClusterSpec any_cluster;
  const EstimateContext context{job.model, any_cluster, job.training, profile};
  RuleInput input = RuleInputOf(context, job.layout.devices());
  input.device_has_products = true;
  input.cluster = nullptr;
  const std::optional<Violation> violation = CheckLayout(input, job.layout);
  if (!violation) return absl::OkStatus();
  return FieldError("layout", FormatLayout(job.layout), Describe(*violation));
}

struct Lacking {
  std::vector<std::string> parts;
  std::vector<SetAsideKey> keys;  // that no member of ModelSpec holds

  bool empty() const { return parts.empty() && keys.empty(); }
};

Lacking LackingOf(const Framework& framework, const ModelSpec& model) {
  KernelSupport has;
  has.ffn = framework.ffns;
  has.parts = framework.parts;
  return {LackingParts(model, has), RefusedKeys(model, framework.keys)};
}

// Returns a sentence that says what the user can do instead of this export.
std::string Instead(const Framework& framework, const Lacking& lacking, const ModelSpec& model) {
  if (lacking.keys.empty() && lacking.parts == PartNames({ModelPart::kTower})) {
    return "a config.json of the language model alone can be exported, and estimate and recommend "
           "plan both";
  }
  for (const Framework* other : Frameworks()) {
    if (other->loads_models || other->name == framework.name || !LackingOf(*other, model).empty()) {
      continue;
    }
    return absl::StrCat("export --to ", AbslView(other->name),
                        " may work, and estimate and recommend plan it");
  }
  return "estimate and recommend plan it";
}

absl::Status CheckPrecision(const Framework& framework, Precision precision) {
  if (framework.precisions.Has(precision)) return absl::OkStatus();
  std::vector<std::string_view> names;
  for (const Precision has : {Precision::kBf16, Precision::kFp16, Precision::kFp32}) {
    if (framework.precisions.Has(has)) names.push_back(PrecisionName(has));
  }
  return FieldError("dtype", PrecisionName(precision),
                    absl::StrCat("must be ", ListInWords(names, "or")));
}

// Returns whether the framework has names for the key, for some of its parts, or another way to say
// it.
bool SaysKey(const Framework& framework, std::string_view key) {
  for (const absl::string_view implied : absl::StrSplit(AbslView(framework.implied), ' ')) {
    if (StdView(implied) == key) return true;
  }
  return WritesSetting(framework, key) ||
         std::any_of(kFurtherSettings.begin(), kFurtherSettings.end(),
                     [&](const FurtherSetting& further) {
                       return further.part_of == key && WritesSetting(framework, further.name);
                     });
}

// Returns whether the framework has names for every part of the option that is said.
bool SaysOption(const Framework& framework, std::string_view option, const Settings& settings) {
  for (const absl::string_view implied : absl::StrSplit(AbslView(framework.implied), ' ')) {
    if (StdView(implied) == option) return true;
  }
  if (WritesSetting(framework, option)) return true;
  bool any = false;
  for (const FurtherSetting& further : kFurtherSettings) {
    if (further.part_of != option || settings.Find(further.name) == nullptr) continue;
    if (!WritesSetting(framework, further.name)) return false;
    any = true;
  }
  return any;
}

// Refuses keys and options that the framework has no name for.
absl::Status CheckSaid(const Framework& framework, const ExportJob& job, const Settings& settings) {
  for (const LayoutKey& key : kLayoutKeys) {
    if (HasDefault(key, job.layout) || SaysKey(framework, key.name)) continue;
    return CannotExport(
        absl::StrCat(AbslView(key.name), AbslView(key.separator), ValueText(key, job.layout)),
        absl::StrCat(AbslView(framework.lacks), " it; must be ", AbslView(key.name),
                     AbslView(key.separator), ConditionText(key, Layout())));
  }
  const RunOptions& options = job.training.options;
  for (const RunOption& option : kRunOptions) {
    if (HasDefault(option, options) || SaysOption(framework, option.name, settings)) {
      continue;
    }
    return FieldError(
        option.name, option.text(options),
        absl::StrCat(AbslView(framework.lacks), " it; must be ", option.text(RunOptions())));
  }
  const Optimizer& optimizer = job.training.optimizer;
  if (optimizer != kAdamW && !WritesSetting(framework, "optimizer")) {
    return FieldError("optimizer", optimizer.name,
                      absl::StrCat("is not written by the export to ", AbslView(framework.name),
                                   "; must be adamw"));
  }
  return absl::OkStatus();
}

absl::Status CheckModel(const Framework& framework, const ModelSpec& model) {
  if (framework.loads_models) return absl::OkStatus();
  const Lacking lacking = LackingOf(framework, model);
  if (lacking.empty()) return absl::OkStatus();
  return RefuseParts(model, lacking.parts, lacking.keys, framework.lacks,
                     Instead(framework, lacking, model));
}

}  // namespace

std::string_view ExportTargetName(ExportTarget target) { return FrameworkOf(target).name; }

std::string_view ProfileOfTarget(ExportTarget target) { return FrameworkOf(target).profile; }

absl::StatusOr<ExportTarget> ParseExportTarget(std::string_view text) {
  ASSIGN_OR_RETURN(const Framework* framework, FindFramework("to", text));
  const auto& all = Frameworks();
  return static_cast<ExportTarget>(std::find(all.begin(), all.end(), framework) - all.begin());
}

absl::StatusOr<ExportedJob> MakeExportedJob(ExportTarget target, const ExportJob& job) {
  const Framework& framework = FrameworkOf(target);
  RETURN_IF_ERROR(Validate(job.model));
  RETURN_IF_ERROR(Validate(job.training));
  RETURN_IF_ERROR(CheckPrecision(framework, job.training.precision));
  RETURN_IF_ERROR(CheckRange("gpus_per_node", job.devices_per_node, 1, kMaxDevicesPerNode));
  RETURN_IF_ERROR(CheckTrained(framework, job.training.options.train));
  RETURN_IF_ERROR(CheckModel(framework, job.model));
  // A feature that the framework lacks is reported first, because it tells the user more than a
  // rule that the layout also breaks.
  Settings settings = SettingsOf(job);
  SetAdapter(job.training.options.train.adapter, settings);
  RETURN_IF_ERROR(CheckSaid(framework, job, settings));
  RETURN_IF_ERROR(framework.prepare(job, settings));
  ASSIGN_OR_RETURN(ExportedJob exported, framework.write(job, settings));
  RETURN_IF_ERROR(CheckRuns(framework, job));
  exported.placed = PlacementOf(job);
  return exported;
}

absl::StatusOr<std::string> Export(ExportTarget target, const ExportJob& job) {
  ASSIGN_OR_RETURN(const ExportedJob exported, MakeExportedJob(target, job));
  if (exported.is_file) return exported.files.front().text;
  return LaunchScript(exported, {});
}

}  // namespace meshwright::planner
