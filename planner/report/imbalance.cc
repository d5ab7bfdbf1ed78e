#include "planner/report/imbalance.h"

#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "planner/estimate/estimate.h"

namespace meshwright::planner {
namespace {

std::string Sentence(const Estimate& own, const ImbalanceEffect& other) {
  return absl::StrFormat(
      "With an imbalance of %g it would need %s instead of %s, run out of memory with a "
      "probability "
      "of %s instead of %s, and take %s for a step instead of %s.",
      other.imbalance, Gib(other.total_bytes), Gib(own.memory.total_bytes()),
      Percent(other.oom_probability), Percent(own.oom_probability), Seconds(other.step_s),
      Seconds(own.time.step_s()));
}

}  // namespace

std::optional<ImbalanceEffect> OtherImbalance(const EstimateContext& context,
                                              const RankedLayout& ranked) {
  if (!context.model.has_experts()) return std::nullopt;
  TrainingSpec training = context.training;
  training.expert_load = training.expert_load < kOtherImbalance ? kOtherImbalance : 1.0;
  const EstimateContext other = {context.model,     context.cluster,         training,
                                 context.profile,   context.ranks_run_alone, context.shapes,
                                 context.correction};
  const Estimate estimate = EstimateLayout(other, ranked.layout);
  ImbalanceEffect effect = {.imbalance = training.expert_load,
                            .total_bytes = estimate.memory.total_bytes(),
                            .oom_probability = estimate.oom_probability,
                            .step_s = estimate.time.step_s(),
                            .sentence = ""};
  effect.sentence = Sentence(ranked.estimate, effect);
  return effect;
}

std::string ImbalanceNote(double imbalance) {
  if (imbalance == 1.0) {
    return "every rank's experts are assumed to get equally many tokens (--imbalance 1); "
           "--imbalance 1.5 plans for a rank whose experts get 1.5 times the mean";
  }
  return absl::StrFormat(
      "the fullest rank's experts are assumed to get %g times the mean number of tokens",
      imbalance);
}

}  // namespace meshwright::planner
