#include "planner/interchange/hugging_face.h"

#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {

absl::Status CheckTrainer(const ExportJob& job) {
  const bool fused_loss = job.training.options.loss_chunks == 0;
  const bool fused_norms = job.layout.norm == NormKernel::kFused;
  if (fused_loss != fused_norms) {
    if (fused_norms) {
      return CannotExport("norm=fused",
                          "the Trainer fuses norms only together with the loss (use_liger_kernel); "
                          "must be left out, or loss must be fused");
    }
    return FieldError("loss", "fused",
                      "the Trainer fuses the loss only together with norms (use_liger_kernel); "
                      "must be plain, or norm=fused in the layout");
  }
  return absl::OkStatus();
}

absl::Status PrepareFsdp2(const ExportJob& job, Settings& settings) {
  const Layout& l = job.layout;
  if (l.zero == 1) {
    return CannotExport("zero1",
                        "FSDP2 shards weights or nothing; must be zero2 or zero3, or "
                        "zero0 without other axes than dp");
  }
  if (l.zero == 0 && int64_t{l.tp} * l.cp > 1) {
    return CannotExport("zero0",
                        "FSDP2 replicates weights only where dp is the only axis; must be zero2 or "
                        "zero3 with tp or cp");
  }
  if (l.shard_ranks % l.cp != 0 || (l.shard_ranks > 0 && l.shard_ranks == l.cp)) {
    return CannotExport("hs",
                        "FSDP2 divides states over whole context-parallel groups and "
                        "over dp; must be a multiple of cp above cp");
  }
  if (l.offload.any() && !l.offload.gradients) {
    return CannotExport("offload=" + FormatOffload(l.offload),
                        "FSDP2's offload of parameters also offloads weights and gradients; "
                        "must be opt+param+grad");
  }
  if (l.offload.any() && (l.zero == 0 || l.offload.activation_layers > 0)) {
    return CannotExport("offload=" + FormatOffload(l.offload),
                        "FSDP2 offloads only what it shards; must be opt+param+grad with zero3");
  }
  if (!l.offload.any()) settings.Set("offload_all", 0);
  settings.Remove("offload");
  if (l.devices() == 1) settings.Set("zero", "alone");
  if (l.zero == 0 && l.recompute != Recompute::kNone) settings.Set("trainer_recomputes", 1);
  return absl::OkStatus();
}

absl::Status PrepareDeepspeed(const ExportJob& job, Settings& settings) {
  RETURN_IF_ERROR(CheckTrainer(job));
  const Offload& offload = job.layout.offload;
  if (offload.gradients || offload.activation_layers > 0) {
    return CannotExport("offload=" + FormatOffload(offload),
                        "DeepSpeed offloads the optimizer's states, and under ZeRO-3 also weights; "
                        "must be opt or opt+param");
  }
  if (offload.any() && job.layout.zero == 0) {
    return CannotExport("offload=" + FormatOffload(offload),
                        "DeepSpeed offloads only what ZeRO shards; must be left out, or used with "
                        "zero1, zero2 or zero3");
  }
  settings.Remove("offload");
  if (job.layout.recompute != Recompute::kNone) settings.Set("trainer_recomputes", 1);
  return absl::OkStatus();
}

absl::Status ResolveTrainer(Settings& settings) {
  // PEFT's choice for models of the Llama family.
  if (settings.IsOn("uses_adapter") && settings.Find("adapter_targets") == nullptr) {
    settings.Set("adapter_targets", "q_proj v_proj");
  }
  if (!settings.IsOn("liger")) return absl::OkStatus();
  settings.Set("loss", "fused");
  settings.Set("norm", "fused");
  return absl::OkStatus();
}

}  // namespace meshwright::planner
