#include "planner/report/export.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/catalog.h"
#include "planner/profile/context.h"
#include "planner/profile/model_part.h"
#include "planner/profile/part_refusal.h"
#include "planner/report/aside_keys.h"
#include "planner/report/megatron_model.h"
#include "planner/rules/rule_list.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kMaxDevicesPerNode = 1024;

// A framework's writer, and the profile whose rules its layouts must keep.
struct Framework {
  std::string_view name;
  std::string_view profile;
  std::string_view lacks;  // begins the sentence about what it can't say
  KeyUser keys;
  EnumSet<ModelPart> parts;
  EnumSet<FfnKind> ffns;
  absl::StatusOr<std::string> (*write)(const ExportJob& job);
};

constexpr Framework kFrameworks[] = {
    {"megatron", "megatron", "Megatron-LM has no flag for", KeyUser::kMegatron, kMegatronParts,
     kMegatronFfns, ExportMegatron},
    {"torchtitan",
     "torchtitan-fsdp",
     "torchtitan has no setting for",
     KeyUser::kTorchtitan,
     {ModelPart::kRotaryPositions, ModelPart::kRmsNorm},
     {FfnKind::kSwiGlu},
     ExportTorchtitan}};

const Framework& FrameworkOf(ExportTarget target) {
  return kFrameworks[target == ExportTarget::kMegatron ? 0 : 1];
}

absl::Status CheckRuns(const Framework& framework, const ExportJob& job) {
  ASSIGN_OR_RETURN(const FrameworkProfile profile, FindProfile(framework.profile));
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
    return "a file of the language model alone is written, and estimate and recommend plan both";
  }
  for (const Framework& other : kFrameworks) {
    if (other.name == framework.name || !LackingOf(other, model).empty()) continue;
    return absl::StrCat("export --to ", std::string(other.name),
                        " may, and estimate and recommend plan it");
  }
  return "estimate and recommend plan it";
}

// Neither framework's launch flags can say that weights are frozen or that adapters train.
absl::Status CheckTrained(const Framework& framework, const TrainedParts& parts) {
  if (parts.all()) return absl::OkStatus();
  return FieldError("train", TrainedPartsText(parts),
                    absl::StrCat(AbslView(framework.lacks),
                                 " adapters and frozen weights; must be full, and estimate and "
                                 "recommend plan it"));
}

// torchtitan scales no loss, which fp16 needs.
absl::Status CheckPrecision(ExportTarget target, Precision precision) {
  const bool has_fp16 = target == ExportTarget::kMegatron;
  if (precision == Precision::kFp64 || (precision == Precision::kFp16 && !has_fp16)) {
    return FieldError("dtype", PrecisionName(precision),
                      absl::StrCat("must be bf16", has_fp16 ? ", fp16" : "", " or fp32"));
  }
  return absl::OkStatus();
}

absl::Status CheckModel(const Framework& framework, const ModelSpec& model) {
  const Lacking lacking = LackingOf(framework, model);
  if (lacking.empty()) return absl::OkStatus();
  return RefuseParts(model, lacking.parts, lacking.keys, framework.lacks,
                     Instead(framework, lacking, model));
}

}  // namespace

std::string_view ExportTargetName(ExportTarget target) { return FrameworkOf(target).name; }

absl::StatusOr<ExportTarget> ParseExportTarget(std::string_view text) {
  for (const ExportTarget target : {ExportTarget::kMegatron, ExportTarget::kTorchtitan}) {
    if (text == ExportTargetName(target)) return target;
  }
  return FieldError("to", text, "must be megatron or torchtitan");
}

absl::StatusOr<std::string> Export(ExportTarget target, const ExportJob& job) {
  RETURN_IF_ERROR(Validate(job.model));
  RETURN_IF_ERROR(Validate(job.training));
  RETURN_IF_ERROR(CheckPrecision(target, job.training.precision));
  RETURN_IF_ERROR(CheckRange("gpus_per_node", job.devices_per_node, 1, kMaxDevicesPerNode));
  const Framework& framework = FrameworkOf(target);
  RETURN_IF_ERROR(CheckTrained(framework, job.training.options.train));
  RETURN_IF_ERROR(CheckModel(framework, job.model));
  // A feature that the framework lacks is reported first, because it tells the user more than a
  // rule that the layout also breaks.
  ASSIGN_OR_RETURN(std::string text, framework.write(job));
  RETURN_IF_ERROR(CheckRuns(framework, job));
  return text;
}

}  // namespace meshwright::planner
