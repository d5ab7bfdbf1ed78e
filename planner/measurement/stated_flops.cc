#include "planner/measurement/stated_flops.h"

#include <string>

#include "absl/strings/match.h"
#include "planner/block/megatron_flops.h"
#include "planner/measurement/source_words.h"

namespace meshwright::planner {
namespace {

// FLOPs of a forward, as a share of the FLOPs of a step without recompute.
constexpr double kForwardShare = 1.0 / 3.0;

bool CountsRecompute(const Measurement& row) {
  const std::string notes = PlainWords(row.notes);
  const bool says_so = absl::StrContains(notes, "count the recomputation") ||
                       absl::StrContains(notes, "counts recompute");
  return says_so && MeaningOfRecompute(row.act_ckpt) == Recompute::kFull;
}

// Attention takes as many FLOPs a token with whole scores as with the causal half of scores of
// twice as many tokens.
double WithWholeScores(const ModelSpec& model, TrainingSpec training) {
  training.seq_len *= 2;
  return MegatronStepFlops(model, training) / 2.0;
}

double HeadFlops(const PlannedRow& planned) {
  return 6.0 * static_cast<double>(planned.model.hidden) *
         static_cast<double>(planned.model.vocab) *
         static_cast<double>(planned.training.global_batch) *
         static_cast<double>(planned.training.seq_len);
}

}  // namespace

double StatedStepFlops(const Measurement& row, const PlannedRow& planned) {
  const bool causal = absl::StrContains(PlainWords(row.notes), "causal");
  const double flops = causal ? MegatronStepFlops(planned.model, planned.training)
                              : WithWholeScores(planned.model, planned.training);
  if (!CountsRecompute(row)) return flops;
  return flops + kForwardShare * (flops - HeadFlops(planned));
}

}  // namespace meshwright::planner
