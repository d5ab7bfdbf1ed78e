#include "planner/interchange/export_megatron.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/status_macros.h"
#include "planner/interchange/megatron_arithmetic.h"
#include "planner/interchange/megatron_hybrid.h"
#include "planner/interchange/megatron_model.h"
#include "planner/interchange/name_table.h"

namespace meshwright::planner {
namespace {

absl::Status AddFlags(NameTable table, const Settings& settings, MegatronScript& script) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> spellings, SpellAll(table, settings));
  for (std::string& line : FlagLines(table, spellings)) script.flags.push_back(std::move(line));
  return absl::OkStatus();
}

// Says where a kernel of the layout is not what the flags choose.
void AddKernelComments(const Layout& layout, MegatronScript& script) {
  if (layout.attention == AttentionKernel::kFlash1 ||
      layout.attention == AttentionKernel::kFlash3) {
    std::string name(AttentionKernelName(layout.attention));
    script.comments.push_back("attn=" + name +
                              ": Transformer Engine takes the newest flash-attn it finds "
                              "installed; no flag names a version.");
  }
  if (layout.norm == NormKernel::kEager) {
    script.comments.push_back(
        "norm=eager: Transformer Engine's norm is fused, so this run is faster and smaller than "
        "estimated.");
  }
}

}  // namespace

absl::StatusOr<std::string> ExportMegatron(const ExportJob& job, const Settings& settings) {
  const Layout& layout = job.layout;
  MegatronScript script;
  RETURN_IF_ERROR(AddFlags(MegatronLayoutFlags(), settings, script));
  RETURN_IF_ERROR(AddModel(job.model, job.training.seq_len, script));
  RETURN_IF_ERROR(AddFlags(MegatronFurtherFlags(), settings, script));
  AddKernelComments(layout, script);

  std::string text = "#!/usr/bin/env bash\n" +
                     CommentLines({absl::StrCat(job.model.name, " as ", FormatLayout(layout))});
  absl::StrAppend(&text, "# on ", layout.devices(),
                  " devices with Megatron-LM. Data, tokenizer, learning rate and checkpoints are "
                  "yours: pass their\n# flags to this script.\n");
  absl::StrAppend(&text, CommentLines(job.notes), CommentLines(script.comments));
  // Tensor and context parallel need their collectives in launch order; FSDP needs them unordered.
  if (layout.zero >= 2) {
    absl::StrAppend(&text, "unset CUDA_DEVICE_MAX_CONNECTIONS\n");
  } else if (layout.tp > 1 || layout.cp > 1) {
    absl::StrAppend(&text, "export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
  }
  absl::StrAppend(&text, TorchrunLines(PlacementOf(job)),
                  IsHybrid(job.model) ? "  pretrain_hybrid.py" : "  pretrain_gpt.py", " \\\n  ",
                  absl::StrJoin(script.flags, " \\\n  "), " \\\n  \"$@\"\n");
  return text;
}

}  // namespace meshwright::planner
