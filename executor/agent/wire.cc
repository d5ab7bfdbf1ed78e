#include "executor/agent/wire.h"

#include "executor/agent/wire_time.h"
#include "planner/base/escape_controls.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"
#include "proto/meshwright/v1/resource_names.h"

namespace meshwright::agent {
namespace {

// Text of a source: a preset's name, or JSON under a name.
template <typename Source>
absl::StatusOr<planner::SpecSource> ReadSource(std::string_view field, const Source& source,
                                               std::string_view name, const std::string& json) {
  if (source.source_case() == Source::kPreset) return planner::SpecSource{source.preset(), ""};
  if (source.source_case() == Source::SOURCE_NOT_SET) {
    return FieldError(field, "", "must be a preset's name or the text of a file");
  }
  if (json.empty()) return FieldError(field, "", "the text of the file is empty");
  return planner::SpecSource{std::string(name), json};
}

v1::MemoryEstimate MemoryToWire(const planner::MemoryEstimate& memory, double fraction_of_device) {
  v1::MemoryEstimate out;
  out.set_weights_bytes(memory.weights_bytes);
  out.set_gradients_bytes(memory.gradients_bytes);
  out.set_optimizer_bytes(memory.optimizer_bytes);
  out.set_activations_bytes(memory.activations_bytes);
  out.set_loss_bytes(memory.loss_bytes);
  out.set_workspace_bytes(memory.workspace_bytes);
  out.set_fragmentation_bytes(memory.fragmentation_bytes);
  out.set_overhead_bytes(memory.overhead_bytes);
  out.set_pipeline_rank(memory.pipeline_rank);
  out.set_total_bytes(memory.total_bytes());
  out.set_fraction_of_device(fraction_of_device);
  return out;
}

planner::MemoryEstimate MemoryFromWire(const v1::MemoryEstimate& in) {
  planner::MemoryEstimate memory;
  memory.weights_bytes = in.weights_bytes();
  memory.gradients_bytes = in.gradients_bytes();
  memory.optimizer_bytes = in.optimizer_bytes();
  memory.activations_bytes = in.activations_bytes();
  memory.loss_bytes = in.loss_bytes();
  memory.workspace_bytes = in.workspace_bytes();
  memory.fragmentation_bytes = in.fragmentation_bytes();
  memory.overhead_bytes = in.overhead_bytes();
  memory.pipeline_rank = in.pipeline_rank();
  return memory;
}

v1::TimeEstimate TimeToWire(const planner::TimeEstimate& time) {
  v1::TimeEstimate out;
  TimePartsToWire(time, out);
  out.set_step_s(time.step_s());
  return out;
}

planner::TimeEstimate TimeFromWire(const v1::TimeEstimate& in) {
  planner::TimeEstimate time;
  time.Add(TimePartsFromWire(in));
  return time;
}

}  // namespace

absl::StatusOr<planner::PlanQuery> FromWire(const v1::PlanRequest& request,
                                            std::string_view default_framework) {
  planner::PlanQuery query;
  const std::string model_name =
      request.model().name().empty() ? "model" : EscapeControls(request.model().name());
  ASSIGN_OR_RETURN(query.model,
                   ReadSource("model", request.model(), model_name, request.model().config_json()));
  ASSIGN_OR_RETURN(query.cluster, ReadSource("cluster", request.cluster(), "cluster",
                                             request.cluster().cluster_json()));
  query.framework = planner::SpecSource{std::string(default_framework), ""};
  if (request.has_framework()) {
    ASSIGN_OR_RETURN(query.framework, ReadSource("framework", request.framework(), "framework",
                                                 request.framework().profile_json()));
  }
  query.devices = request.gpus();
  query.training.seq_len = request.seq_len();
  query.training.global_batch = request.global_batch();
  if (!request.dtype().empty()) {
    ASSIGN_OR_RETURN(query.training.precision, planner::ParsePrecision(request.dtype()));
  }
  return query;
}

v1::PlanRequest ToWire(const planner::PlanQuery& query) {
  v1::PlanRequest out;
  if (query.model.json.empty()) {
    out.mutable_model()->set_preset(query.model.name);
  } else {
    out.mutable_model()->set_config_json(query.model.json);
    out.mutable_model()->set_name(query.model.name);
  }
  if (query.cluster.json.empty()) {
    out.mutable_cluster()->set_preset(query.cluster.name);
  } else {
    out.mutable_cluster()->set_cluster_json(query.cluster.json);
  }
  if (query.framework.json.empty()) {
    out.mutable_framework()->set_preset(query.framework.name);
  } else {
    out.mutable_framework()->set_profile_json(query.framework.json);
  }
  out.set_gpus(query.devices);
  out.set_seq_len(query.training.seq_len);
  out.set_global_batch(query.training.global_batch);
  out.set_dtype(std::string(planner::PrecisionName(query.training.precision)));
  return out;
}

v1::LayoutEstimate ToWire(const planner::RankedLayout& ranked) {
  v1::LayoutEstimate out;
  out.set_layout(planner::FormatLayout(ranked.layout));
  *out.mutable_memory() = MemoryToWire(ranked.estimate.memory, ranked.estimate.fraction_of_device);
  *out.mutable_time() = TimeToWire(ranked.estimate.time);
  out.set_mfu(ranked.estimate.mfu);
  out.set_mfu_causal(ranked.estimate.mfu_causal);
  out.set_tokens_per_s(ranked.estimate.tokens_per_s);
  out.set_tflops_per_gpu(ranked.estimate.tflops_per_gpu);
  out.set_tflops_per_gpu_causal(ranked.estimate.tflops_per_gpu_causal);
  out.set_tokens_per_s_per_gpu(ranked.estimate.tokens_per_s_per_gpu);
  out.set_oom_probability(ranked.estimate.oom_probability);
  out.set_step_low_s(ranked.estimate.step_low_s);
  out.set_step_high_s(ranked.estimate.step_high_s);
  return out;
}

absl::StatusOr<planner::RankedLayout> FromWire(const v1::LayoutEstimate& in) {
  planner::RankedLayout ranked;
  ASSIGN_OR_RETURN(ranked.layout, planner::ParseLayout(in.layout()));
  ranked.estimate.memory = MemoryFromWire(in.memory());
  ranked.estimate.fraction_of_device = in.memory().fraction_of_device();
  ranked.estimate.time = TimeFromWire(in.time());
  ranked.estimate.mfu = in.mfu();
  ranked.estimate.mfu_causal = in.mfu_causal();
  ranked.estimate.tokens_per_s = in.tokens_per_s();
  ranked.estimate.tflops_per_gpu = in.tflops_per_gpu();
  ranked.estimate.tflops_per_gpu_causal = in.tflops_per_gpu_causal();
  ranked.estimate.tokens_per_s_per_gpu = in.tokens_per_s_per_gpu();
  ranked.estimate.oom_probability = in.oom_probability();
  ranked.estimate.step_low_s = in.step_low_s();
  ranked.estimate.step_high_s = in.step_high_s();
  return ranked;
}

v1::Explanation ToWire(const planner::RankedLayout& ranked,
                       const planner::Explanation& explanation) {
  v1::Explanation out;
  for (const planner::StageMemory& stage : explanation.stages) {
    *out.add_stages() = MemoryToWire(stage.memory, stage.fraction_of_device);
  }
  const planner::Binding binding = planner::BindingOf(ranked.estimate);
  v1::Binding* to = out.mutable_binding();
  to->set_memory_part(std::string(planner::PartName(binding.memory_part)));
  to->set_memory_bytes(binding.memory_bytes);
  to->set_time_part(std::string(planner::PartName(binding.time_part)));
  to->set_time_s(binding.time_s);
  to->set_sentence(planner::BindingSentence(ranked));
  out.set_neighbours_tried(explanation.neighbours.tried);
  if (explanation.neighbours.smallest) {
    *out.mutable_smallest_change() = ToWire(*explanation.neighbours.smallest);
  }
  return out;
}

absl::StatusOr<planner::Explanation> FromWire(const v1::Explanation& in) {
  planner::Explanation explanation;
  for (const v1::MemoryEstimate& stage : in.stages()) {
    explanation.stages.push_back({MemoryFromWire(stage), stage.fraction_of_device()});
  }
  explanation.neighbours.tried = in.neighbours_tried();
  if (in.has_smallest_change()) {
    ASSIGN_OR_RETURN(explanation.neighbours.smallest, FromWire(in.smallest_change()));
  }
  return explanation;
}

v1::Funnel ToWire(const planner::Funnel& funnel) {
  v1::Funnel out;
  out.set_enumerated(funnel.enumerated);
  out.set_invalid(funnel.invalid);
  out.set_memory(funnel.memory);
  out.set_evaluated(funnel.evaluated);
  for (size_t i = 0; i < funnel.invalid_by_rule.size(); ++i) {
    if (funnel.invalid_by_rule[i] == 0) continue;
    const std::string rule(planner::RuleName(static_cast<planner::Rule>(i)));
    (*out.mutable_invalid_by_rule())[rule] = funnel.invalid_by_rule[i];
  }
  return out;
}

planner::Funnel FromWire(const v1::Funnel& in) {
  planner::Funnel funnel;
  funnel.enumerated = in.enumerated();
  funnel.invalid = in.invalid();
  funnel.memory = in.memory();
  funnel.evaluated = in.evaluated();
  for (size_t i = 0; i < funnel.invalid_by_rule.size(); ++i) {
    const auto found =
        in.invalid_by_rule().find(std::string(planner::RuleName(static_cast<planner::Rule>(i))));
    if (found != in.invalid_by_rule().end()) funnel.invalid_by_rule[i] = found->second;
  }
  return funnel;
}

v1::AttemptRef ToWire(const AttemptKey& key) {
  v1::AttemptRef ref;
  ref.set_trial(FormatTrialName(key.sweep, key.trial));
  ref.set_attempt(key.attempt);
  return ref;
}

absl::StatusOr<AttemptKey> FromWire(const v1::AttemptRef& ref) {
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(ref.trial()));
  return AttemptKey{name.sweep, name.number, ref.attempt()};
}

google::protobuf::Timestamp ToWire(absl::Time time) {
  const int64_t micros = absl::ToUnixMicros(time);
  google::protobuf::Timestamp out;
  out.set_seconds(micros / 1'000'000);
  out.set_nanos(static_cast<int32_t>(micros % 1'000'000) * 1000);
  return out;
}

absl::Time FromWire(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

}  // namespace meshwright::agent
