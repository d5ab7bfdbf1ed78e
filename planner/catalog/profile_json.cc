#include "planner/catalog/catalog.h"
#include "planner/catalog/json_fields.h"
#include "planner/spec/status_macros.h"

namespace meshwright {

using nlohmann::json;

absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject("framework", text));
  JsonFields fields(object);
  FrameworkProfile p;
  p.name = fields.String("name");
  p.gradient_bytes = static_cast<int32_t>(fields.IntOr("gradient_bytes", p.gradient_bytes));
  p.optimizer_bytes = static_cast<int32_t>(fields.IntOr("optimizer_bytes", p.optimizer_bytes));
  p.vocab_parallel_loss = fields.BoolOr("vocab_parallel_loss", p.vocab_parallel_loss);
  p.loss_peak_bytes_per_logit =
      fields.NumberOr("loss_peak_bytes_per_logit", p.loss_peak_bytes_per_logit);
  p.keeps_gathered_inputs = fields.BoolOr("keeps_gathered_inputs", p.keeps_gathered_inputs);
  p.fused_swiglu = fields.BoolOr("fused_swiglu", p.fused_swiglu);
  p.worker_allocations = fields.BoolOr("worker_allocations", p.worker_allocations);
  p.data_parallel_overlap = fields.NumberOr("data_parallel_overlap", p.data_parallel_overlap);
  p.max_zero = static_cast<int32_t>(fields.IntOr("max_zero", p.max_zero));
  p.has_sequence_parallel = fields.BoolOr("has_sequence_parallel", p.has_sequence_parallel);
  p.has_context_parallel = fields.BoolOr("has_context_parallel", p.has_context_parallel);
  p.has_interleaving = fields.BoolOr("has_interleaving", p.has_interleaving);
  p.has_recompute = fields.BoolOr("has_recompute", p.has_recompute);
  p.zero23_with_pipeline = fields.BoolOr("zero23_with_pipeline", p.zero23_with_pipeline);
  p.kv_replication = fields.BoolOr("kv_replication", p.kv_replication);
  p.vocab_multiple = static_cast<int32_t>(fields.IntOr("vocab_multiple", p.vocab_multiple));
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(Validate(p));
  return p;
}

std::string ProfileToJson(const FrameworkProfile& p) {
  const json object = {{"name", p.name},
                       {"gradient_bytes", p.gradient_bytes},
                       {"optimizer_bytes", p.optimizer_bytes},
                       {"vocab_parallel_loss", p.vocab_parallel_loss},
                       {"loss_peak_bytes_per_logit", p.loss_peak_bytes_per_logit},
                       {"keeps_gathered_inputs", p.keeps_gathered_inputs},
                       {"fused_swiglu", p.fused_swiglu},
                       {"worker_allocations", p.worker_allocations},
                       {"data_parallel_overlap", p.data_parallel_overlap},
                       {"max_zero", p.max_zero},
                       {"has_sequence_parallel", p.has_sequence_parallel},
                       {"has_context_parallel", p.has_context_parallel},
                       {"has_interleaving", p.has_interleaving},
                       {"has_recompute", p.has_recompute},
                       {"zero23_with_pipeline", p.zero23_with_pipeline},
                       {"kv_replication", p.kv_replication},
                       {"vocab_multiple", p.vocab_multiple}};
  return object.dump();
}

}  // namespace meshwright
