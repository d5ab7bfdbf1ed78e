#include "planner/report/offload_effect.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "planner/cost/offload_time.h"
#include "planner/cost/optimizer_time.h"
#include "planner/memory/chunks_in_flight.h"
#include "planner/memory/rank_memory.h"

namespace meshwright::planner {
namespace {

int64_t MovedBytes(const PlannedLayout& planned, int32_t pipeline_rank) {
  int64_t bytes = 0;
  for (int32_t chunk = 0; chunk < planned.layout().vpp; ++chunk) {
    FirstLayers offloaded = FirstLayers::Offloaded(planned.layout());
    ForEachRun(planned.context().shapes, planned.StageOnRank(pipeline_rank, chunk),
               [&](size_t shape, int64_t layers) {
                 bytes += offloaded.Of(layers) * planned.block(shape).kept_bytes;
               });
  }
  return bytes;
}

std::string Moves(const Offload& offload, const OffloadEffect& effect) {
  std::string text;
  if (offload.activation_layers > 0) {
    absl::StrAppend(&text, "Offloading the activations of ", offload.activation_layers,
                    offload.activation_layers == 1 ? " layer" : " layers", " moves ",
                    Gib(effect.moved_bytes), " a micro-batch down and up again");
  }
  if (offload.optimizer) {
    absl::StrAppend(&text, text.empty() ? "Offloading" : ", and offloading",
                    offload.gradients    ? " the optimizer, weights and gradients moves "
                    : offload.parameters ? " the optimizer and weights moves "
                                         : " the optimizer moves ",
                    Gib(effect.update_bytes), " of gradients and weights a step",
                    offload.parameters ? " at the update, and the rank's shard of the weights in "
                                         "each pass of each micro-batch"
                                       : "");
  }
  return text;
}

std::string Sentence(const EstimateContext& context, const RankedLayout& ranked,
                     const OffloadEffect& effect) {
  constexpr double kGiga = 1e9;
  const Estimate& estimate = ranked.estimate;
  return absl::StrFormat(
      "%s, at %.0f GB/s: %s of a step of %s are not hidden. Hosts hold up to %s for a device and "
      "%s "
      "of %s for a node.",
      Moves(ranked.layout.offload, effect), effect.link_bytes_per_s / kGiga,
      Seconds(effect.exposed_s), Seconds(estimate.time.step_s()), Gib(effect.host_bytes),
      Gib(estimate.host_node_bytes), Gib(context.cluster.host.memory_bytes));
}

}  // namespace

std::optional<OffloadEffect> OffloadEffectOf(const EstimateContext& context,
                                             const RankedLayout& ranked) {
  const Layout& layout = ranked.layout;
  if (!layout.offload.any()) return std::nullopt;
  const StepShape step(context, layout);
  OffloadEffect effect = {.link_bytes_per_s = HostCopyRate(step),
                          .exposed_s = ranked.estimate.time[TimePart::kOffload],
                          .sentence = ""};
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    effect.moved_bytes = std::max(effect.moved_bytes, MovedBytes(step.planned, rank));
    effect.host_bytes =
        std::max(effect.host_bytes, EstimateRankMemory(context, layout, rank).host_bytes);
  }
  effect.update_bytes = static_cast<int64_t>(LongestHostUpdate(step).copied_bytes);
  effect.sentence = Sentence(context, ranked, effect);
  return effect;
}

}  // namespace meshwright::planner
