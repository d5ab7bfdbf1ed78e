#include "planner/report/export.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/profile/context.h"
#include "planner/profile/model_part.h"
#include "planner/report/megatron_model.h"
#include "planner/rules/rule_list.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kMaxDevicesPerNode = 1024;

// A framework's writer, and the profile whose rules its layouts must keep.
struct Framework {
  std::string_view name;
  std::string_view profile;
  EnumSet<ModelPart> parts;
  absl::StatusOr<std::string> (*write)(const ExportJob& job);
};

const Framework& FrameworkOf(ExportTarget target) {
  static constexpr Framework kMegatron = {"megatron", "megatron", kMegatronParts, ExportMegatron};
  static constexpr Framework kTorchtitan = {"torchtitan",
                                            "torchtitan-fsdp",
                                            {ModelPart::kRotaryPositions, ModelPart::kRmsNorm},
                                            ExportTorchtitan};
  return target == ExportTarget::kMegatron ? kMegatron : kTorchtitan;
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

absl::Status CheckParts(const Framework& framework, const ModelSpec& model) {
  const auto others = EnumSet<ModelPart>::FromBits(PartsOf(model).bits() & ~framework.parts.bits());
  const FfnKind ffn = model.FirstFfn().kind;
  const bool writes_ffn = ffn == FfnKind::kSwiGlu || ffn == FfnKind::kGelu;
  if (others.empty() && writes_ffn) return absl::OkStatus();
  const std::string named = NamesOf(others, ModelPartName);
  const std::string ffn_name(writes_ffn ? "" : NameOf(kFfnKindNames, ffn));
  return FieldError(
      "model", model.name,
      absl::StrCat("has ", named, named.empty() || ffn_name.empty() ? "" : ", ", ffn_name,
                   ", not exported to ", std::string(framework.name),
                   " yet; must have no others than ", NamesOf(framework.parts, ModelPartName)));
}

// What changes neither memory nor time still has to be among the flags.
absl::Status CheckSetAside(const Framework& framework, const ModelSpec& model) {
  if (model.set_aside.empty()) return absl::OkStatus();
  const SetAsideKey& first = model.set_aside.front();
  return FieldError(first.key, first.value,
                    absl::StrCat("changes the model, and is not exported to ",
                                 std::string(framework.name), " yet; must be absent"));
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
  if (job.training.precision == Precision::kFp64) {
    return FieldError("dtype", PrecisionName(job.training.precision), "must be bf16 or fp32");
  }
  RETURN_IF_ERROR(CheckRange("gpus_per_node", job.devices_per_node, 1, kMaxDevicesPerNode));
  const Framework& framework = FrameworkOf(target);
  RETURN_IF_ERROR(CheckParts(framework, job.model));
  RETURN_IF_ERROR(CheckSetAside(framework, job.model));
  // What the framework lacks is reported first: it says more than a rule that the layout also
  // breaks.
  ASSIGN_OR_RETURN(std::string text, framework.write(job));
  RETURN_IF_ERROR(CheckRuns(framework, job));
  return text;
}

}  // namespace meshwright::planner
