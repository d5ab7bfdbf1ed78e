#include "planner/report/export.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/profile/context.h"
#include "planner/profile/model_part.h"
#include "planner/report/export_megatron.h"
#include "planner/report/export_torchtitan.h"
#include "planner/rules/rule_list.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kMaxDevicesPerNode = 1024;

absl::Status CheckRuns(ExportTarget target, const ExportJob& job) {
  const std::string_view name = target == ExportTarget::kMegatron ? "megatron" : "torchtitan-fsdp";
  ASSIGN_OR_RETURN(const FrameworkProfile profile, FindProfile(name));
  const ClusterSpec any_cluster;
  const EstimateContext context{job.model, any_cluster, job.training, profile};
  RuleInput input = RuleInputOf(context, job.layout.devices());
  input.device_has_products = true;
  const std::optional<Violation> violation = CheckLayout(input, job.layout);
  if (!violation) return absl::OkStatus();
  return FieldError("layout", FormatLayout(job.layout), Describe(*violation));
}

// Flags are written for blocks like Llama's: RMSNorm, rotary embedding, no biases but of Q, K and
// V.
absl::Status CheckParts(const ModelSpec& model) {
  constexpr EnumSet<ModelPart> kWritten = {ModelPart::kRotaryPositions, ModelPart::kRmsNorm};
  const auto others = EnumSet<ModelPart>::FromBits(PartsOf(model).bits() & ~kWritten.bits());
  const bool relu = model.groups.front().ffn.kind == FfnKind::kRelu;
  if (others.empty() && !relu) return absl::OkStatus();
  const std::string named = NamesOf(others, ModelPartName);
  return FieldError("model", model.name,
                    absl::StrCat("has ", named, relu && !named.empty() ? ", " : "",
                                 relu ? "relu" : "", ", which is not exported yet; must have ",
                                 NamesOf(kWritten, ModelPartName), " and no others"));
}

}  // namespace

std::string_view ExportTargetName(ExportTarget target) {
  return target == ExportTarget::kMegatron ? "megatron" : "torchtitan";
}

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
  if (job.model.groups.size() > 1) {
    return FieldError("model", job.model.name,
                      "has layers of different shapes; must have one shape for all layers");
  }
  RETURN_IF_ERROR(CheckParts(job.model));
  // What the framework lacks comes first: it says more than a rule that the layout breaks as well.
  const auto write = target == ExportTarget::kMegatron ? ExportMegatron : ExportTorchtitan;
  ASSIGN_OR_RETURN(std::string text, write(job));
  RETURN_IF_ERROR(CheckRuns(target, job));
  return text;
}

}  // namespace meshwright::planner
