#include "planner/measurement/planned_row.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/plan_query.h"
#include "planner/measurement/expert_notes.h"
#include "planner/measurement/measured_layout.h"
#include "planner/measurement/measured_options.h"
#include "planner/measurement/unsaid_choices.h"
#include "planner/rules/rule_list.h"

namespace meshwright::planner {
namespace {

// Writes the cell of a column to `value`. If the cell is empty, `value` keeps its known value.
absl::Status Fill(std::string_view column, const OptionalInt& cell, int64_t& value) {
  if (cell) value = *cell;
  if (!cell && value == 0) return FieldError(column, "(empty)", "this column is needed");
  if (value < 1) return FieldError(column, value, "must be at least 1");
  return absl::OkStatus();
}

// Returns the facts about the model that are known without the row's columns: the whole model if
// its name is a preset's name, otherwise the properties of its family.
ModelSpec KnownModel(const Measurement& row, const MeasurementPresets& presets,
                     const FrameworkProfile& profile) {
  if (const ModelSpec* preset = ModelOf(presets, row)) return *preset;
  const ModelFamilies& families = presets.families;
  const bool gated = HasGatedFfn(families, row).value_or(profile.supports.gated_mlp);
  ModelSpec model;
  model.name = row.model;
  model.tied_embeddings =
      HasTiedEmbeddings(families, row).value_or(profile.supports.tied_embeddings);
  model.vocab = VocabOf(families, row).value_or(0);
  model.groups = {{.ffn = {.kind = gated ? FfnKind::kSwiGlu : FfnKind::kGelu}}};
  return model;
}

absl::StatusOr<ModelSpec> ShapeOf(const Measurement& row, ModelSpec model) {
  const int64_t known_hidden = model.hidden;
  model.groups.resize(1);  // a row says one shape for all layers
  LayerGroup& layer = model.groups.front();
  Attention& attention = layer.attention;
  const int64_t known_heads = attention.heads;
  RETURN_IF_ERROR(Fill("layers", row.layers, layer.count));
  RETURN_IF_ERROR(Fill("hidden", row.hidden, model.hidden));
  RETURN_IF_ERROR(Fill("ffn", row.ffn, layer.ffn.hidden));
  RETURN_IF_ERROR(Fill("heads", row.heads, attention.heads));
  RETURN_IF_ERROR(Fill("vocab", row.vocab, model.vocab));
  const bool known_attention = model.hidden == known_hidden && attention.heads == known_heads;
  if (!known_attention) {
    if (model.hidden % attention.heads != 0) {
      return FieldError("hidden", model.hidden,
                        "must be a multiple of heads = " + std::to_string(attention.heads));
    }
    attention.head_dim = model.hidden / attention.heads;
    attention.kv_heads = attention.heads;
  }
  attention.kv_heads = row.kv_heads.value_or(attention.kv_heads);
  RETURN_IF_ERROR(Validate(model));
  return model;
}

// Returns whether the row says how fast its run was, in any unit.
bool StatesSpeed(const Measurement& row) {
  return row.step_time_s || row.mfu || row.tflops_per_gpu || row.tokens_per_s_per_gpu;
}

// Without a pipeline the number of micro-batches changes what a step takes, not what it holds. So a
// row that tells of memory alone needs no global batch.
absl::StatusOr<int64_t> GlobalBatchOf(const Measurement& row) {
  if (!row.gbs && !StatesSpeed(row) && row.pp == 1) return LeastGlobalBatch(row);
  int64_t global_batch = 0;
  RETURN_IF_ERROR(Fill("gbs", row.gbs, global_batch));
  return global_batch;
}

absl::StatusOr<PlannedRow> SpecsOf(const Measurement& row, const MeasurementPresets& presets) {
  PlannedRow planned;
  ASSIGN_OR_RETURN(planned.training.precision, PrecisionOf(row));
  RETURN_IF_ERROR(ReadMeasuredOptions(row, planned.training));
  if (StatedOption(row, "train").empty() && TrainsAdapters(presets.families, row)) {
    return FieldError("train", "(empty)",
                      "the notes tell of adapters; must say which, as lora:16 in this column or "
                      "train=lora:16 in the notes");
  }
  ASSIGN_OR_RETURN(planned.cluster, ClusterOf(presets, row));
  ASSIGN_OR_RETURN(planned.profile, ProfileOf(presets, row));
  RETURN_IF_ERROR(CheckOptions(*planned.profile, planned.training));
  ModelSpec known = KnownModel(row, presets, *planned.profile);
  if (known.has_experts() || HasExperts(presets.families, row)) {
    ASSIGN_OR_RETURN(planned.model, ExpertModelOf(row, std::move(known)));
  } else {
    ASSIGN_OR_RETURN(planned.model, ShapeOf(row, std::move(known)));
  }
  RETURN_IF_ERROR(CheckTrained(planned.model, planned.training));
  RETURN_IF_ERROR(Fill("seq", row.seq, planned.training.seq_len));
  ASSIGN_OR_RETURN(planned.training.global_batch, GlobalBatchOf(row));
  RETURN_IF_ERROR(Validate(planned.training));
  ASSIGN_OR_RETURN(planned.devices, DevicesOf(row));
  return planned;
}

// A run shows that its framework, or a fork of it, has the schedule and the stages that it used.
FrameworkProfile WithSchedule(FrameworkProfile profile, const Layout& layout) {
  const ScheduleKind schedule = layout.schedule;
  if (!layout.stages.empty()) profile.supports.has_stages = true;
  if (schedule == ScheduleKind::kZbH1) profile.supports.has_zb_h1 = true;
  if (schedule == ScheduleKind::kZbV) profile.supports.has_zb_v = true;
  if (schedule == ScheduleKind::kZbH2) profile.supports.has_zb_h2 = true;
  if (IsV(schedule) && schedule != ScheduleKind::kZbV) profile.supports.has_v_half = true;
  if (DividesVocabulary(schedule)) profile.supports.has_vocab_parallel = true;
  return profile;
}

RowPlan Refuse(RowPlan plan, const absl::Status& status) {
  plan.reason = std::string(status.message());
  plan.subject = FieldOf(status);
  return plan;
}

}  // namespace

std::string AtLine(const Measurement& row, std::string_view problem) {
  return absl::StrCat("line ", row.line, " ", AbslView(problem));
}

RowPlan PlanRow(const Measurement& row, const MeasurementPresets& presets) {
  RowPlan plan;
  if (!row.problem.empty()) {
    plan.reason = AtLine(row, row.problem);
    plan.subject = std::string(kUnreadable);
    return plan;
  }
  absl::StatusOr<PlannedRow> specs = SpecsOf(row, presets);
  if (!specs.ok()) return Refuse(std::move(plan), specs.status());
  plan.row = *std::move(specs);
  absl::StatusOr<Layout> layout =
      LayoutOf(row, plan.row->model, plan.row->profile->supports.unsaid_zero);
  if (!layout.ok()) return Refuse(std::move(plan), layout.status());
  const FrameworkProfile fork = WithSchedule(*plan.row->profile, *layout);
  const EstimateContext context = {plan.row->model, plan.row->cluster, plan.row->training, fork};
  *layout = WithUnsaidChoices(row, context, plan.row->devices, *layout);
  const auto violation = CheckLayout(context, plan.row->devices, *layout);
  if (violation) {
    plan.reason = Describe(*violation);
    plan.subject = std::string(RuleName(violation->rule));
    return plan;
  }
  plan.layout = *layout;
  return plan;
}

}  // namespace meshwright::planner
