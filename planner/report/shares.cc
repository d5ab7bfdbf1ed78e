#include "planner/report/shares.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "planner/memory/profile_memory.h"
#include "planner/profile/model_part.h"

namespace meshwright::planner {
namespace {

// Returns zeros if memory is fullest during the optimizer step, when no activations are held.
KeptShares SharesOf(const EstimateContext& context, const RankedLayout& ranked) {
  const MemoryEstimate& memory = ranked.estimate.memory;
  if (memory.activations_bytes == 0) return {};
  return KeptSharesOnRank(context, ranked.layout, memory.pipeline_rank);
}

int64_t MostExpertsOfAToken(const ModelSpec& model) {
  int64_t most = 0;
  for (const LayerGroup& group : model.groups) most = std::max(most, group.ffn.experts.top_k);
  return most;
}

std::string ExpertSentence(const EstimateContext& context, const RankedLayout& ranked,
                           const ExpertShare& share) {
  const Layout& layout = ranked.layout;
  std::string text = "Experts keep no activations at the peak.";
  if (share.activations_bytes > 0) {
    text = absl::StrFormat(
        "Experts' activations take %s of %s that are kept: each token %d times (top-k), not "
        "divided by ep %d.",
        Gib(share.activations_bytes), Gib(ranked.estimate.memory.activations_bytes),
        MostExpertsOfAToken(context.model), layout.ep);
  }
  if (!layout.divides_experts()) return text;
  const double step_s = ranked.estimate.time.step_s();
  absl::StrAppend(&text, " Of their all-to-alls ", Seconds(share.exposed_s), " of ",
                  Seconds(step_s), " (", Percent(share.exposed_s / step_s),
                  ") are not hidden behind compute.");
  return text;
}

}  // namespace

std::optional<ExpertShare> ExpertShareOf(const EstimateContext& context,
                                         const RankedLayout& ranked) {
  if (!context.model.has_experts()) return std::nullopt;
  ExpertShare share = {.activations_bytes = SharesOf(context, ranked).experts_bytes,
                       .exposed_s = ranked.estimate.time[TimePart::kEp],
                       .sentence = ""};
  share.sentence = ExpertSentence(context, ranked, share);
  return share;
}

std::optional<LatentShare> LatentShareOf(const EstimateContext& context,
                                         const RankedLayout& ranked) {
  if (!PartsOf(context.model).Has(ModelPart::kLatentAttention)) return std::nullopt;
  const KeptShares shares = SharesOf(context, ranked);
  LatentShare share = {.projected_bytes = shares.projected_bytes,
                       .latent_bytes = shares.latent_bytes,
                       .sentence = ""};
  share.sentence =
      share.projected_bytes + share.latent_bytes == 0
          ? "Latent attention keeps no activations at the peak."
          : absl::StrFormat(
                "Latent attention keeps %s: %s of queries, keys and values of all heads, and %s of "
                "the latents that they come out of.",
                Gib(share.projected_bytes + share.latent_bytes), Gib(share.projected_bytes),
                Gib(share.latent_bytes));
  return share;
}

}  // namespace meshwright::planner
