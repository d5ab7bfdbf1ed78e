#include "planner/measurement/planned_row.h"

#include <string_view>
#include <utility>

#include "planner/measurement/measured_layout.h"
#include "planner/search/rules.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

absl::Status CheckColumns(const Measurement& row) {
  const std::pair<std::string_view, const OptionalInt*> needed[] = {
      {"layers", &row.layers}, {"hidden", &row.hidden}, {"ffn", &row.ffn}, {"heads", &row.heads},
      {"vocab", &row.vocab},   {"seq", &row.seq},       {"gbs", &row.gbs},
  };
  for (const auto& [column, value] : needed) {
    if (!value->has_value()) return FieldError(column, "(empty)", "this column is needed");
    if (**value < 1) return FieldError(column, **value, "must be at least 1");
  }
  return absl::OkStatus();
}

// Requires CheckColumns(row).
absl::StatusOr<ModelSpec> ModelOf(const Measurement& row, const ModelFamilies& families,
                                  const FrameworkProfile& profile) {
  if (*row.hidden % *row.heads != 0) {
    return FieldError("hidden", *row.hidden,
                      "must be a multiple of heads = " + std::to_string(*row.heads));
  }
  const bool gated = HasGatedFfn(families, row).value_or(profile.gated_mlp);
  ModelSpec model;
  model.name = row.model;
  model.hidden = *row.hidden;
  model.heads = *row.heads;
  model.kv_heads = row.kv_heads.value_or(*row.heads);
  model.head_dim = *row.hidden / *row.heads;
  model.vocab = *row.vocab;
  model.tied_embeddings = HasTiedEmbeddings(families, row).value_or(profile.tied_embeddings);
  model.groups = {{.attention = AttentionKind::kGroupedQuery,
                   .ffn = gated ? FfnKind::kSwiGlu : FfnKind::kGelu,
                   .ffn_hidden = *row.ffn,
                   .count = *row.layers}};
  RETURN_IF_ERROR(Validate(model));
  return model;
}

absl::StatusOr<PlannedRow> SpecsOf(const Measurement& row, const MeasurementPresets& presets) {
  PlannedRow planned;
  if (HasExperts(presets.families, row)) {
    return FieldError("model", row.model, "a model with experts, which have no model yet");
  }
  if (TrainsAdapters(presets.families, row)) {
    return FieldError("notes", "LoRA",
                      "adapters were trained, not all weights, which has no model");
  }
  ASSIGN_OR_RETURN(planned.training.precision, PrecisionOf(row));
  ASSIGN_OR_RETURN(planned.cluster, ClusterOf(presets, row));
  ASSIGN_OR_RETURN(planned.profile, ProfileOf(presets, row));
  RETURN_IF_ERROR(CheckColumns(row));
  ASSIGN_OR_RETURN(planned.model, ModelOf(row, presets.families, *planned.profile));
  planned.training.seq_len = *row.seq;
  planned.training.global_batch = *row.gbs;
  RETURN_IF_ERROR(Validate(planned.training));
  ASSIGN_OR_RETURN(planned.devices, DevicesOf(row));
  return planned;
}

RowPlan Refuse(RowPlan plan, const absl::Status& status) {
  plan.reason = std::string(status.message());
  plan.subject = FieldOf(status);
  return plan;
}

}  // namespace

RowPlan PlanRow(const Measurement& row, const MeasurementPresets& presets) {
  RowPlan plan;
  if (!row.problem.empty()) {
    plan.reason = row.problem;
    plan.subject = "unreadable";
    return plan;
  }
  absl::StatusOr<PlannedRow> specs = SpecsOf(row, presets);
  if (!specs.ok()) return Refuse(std::move(plan), specs.status());
  plan.row = *std::move(specs);
  const absl::StatusOr<Layout> layout = LayoutOf(row);
  if (!layout.ok()) return Refuse(std::move(plan), layout.status());
  const auto violation = CheckLayout(plan.row->context(), plan.row->devices, *layout);
  if (violation) {
    plan.reason = Describe(*violation);
    plan.subject = std::string(RuleName(violation->rule));
    return plan;
  }
  plan.layout = *layout;
  return plan;
}

}  // namespace meshwright
