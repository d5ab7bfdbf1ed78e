#include "planner/interchange/hugging_face.h"

#include "base/text/field_error.h"

namespace meshwright::planner {

absl::Status CheckTrainer(const ExportJob& job) {
  const bool fused_loss = job.training.options.loss_chunks == 0;
  const bool fused_norms = job.layout.norm == NormKernel::kFused;
  if (fused_loss != fused_norms) {
    if (fused_norms) {
      return CannotExport("norm=fused",
                          "the Trainer fuses norms with the loss alone, by use_liger_kernel; must "
                          "be left out, or loss must be fused");
    }
    return FieldError("loss", "fused",
                      "the Trainer fuses the loss with the norms alone, by use_liger_kernel; must "
                      "be plain, or norm=fused in the layout");
  }
  return absl::OkStatus();
}

absl::Status ResolveTrainer(Settings& settings) {
  if (!settings.IsOn("liger")) return absl::OkStatus();
  settings.Set("loss", "fused");
  settings.Set("norm", "fused");
  return absl::OkStatus();
}

}  // namespace meshwright::planner
