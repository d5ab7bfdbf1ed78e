#include "executor/worker/run/rehearsal.h"

#include <ATen/ops/zeros.h>

#include <utility>

#include "executor/worker/model/token_source.h"
#include "executor/worker/state/unit_observer.h"
#include "planner/schedule/schedule.h"

namespace meshwright::worker {
namespace {

// Provides weights and gradients on demand, and keeps neither.
class Props final : public UnitObserver {
 public:
  void BeforeWeights(const WeightGroup& units) override {
    for (FlatUnit* unit : units) {
      if (unit->zero() >= 3) unit->GatherWeights().Wait();
    }
  }
  void AfterWeights(const WeightGroup& units) override {
    for (FlatUnit* unit : units) unit->ReleaseWeights();
  }
  void BeforeGradients(FlatUnit& unit) override { unit.OpenGradients(); }
  void AfterGradients(FlatUnit& unit, bool /*pass_complete*/) override {
    if (unit.gradients_open()) unit.CloseGradients(/*with_vectors=*/false);
  }
};

// Stands in for the previous stage's activation, or the next stage's gradient.
at::Tensor Message(const RankContext& context) {
  return at::zeros({context.stream_tokens(), context.model.hidden}, context.options());
}

}  // namespace

void Rehearse(RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages) {
  Props props;
  // Zero activations would all be routed to the first experts.
  const planner::Routing routing =
      std::exchange(context.training.routing, planner::Routing::kBalanced);
  const TokenSource tokens(context, 0);
  for (const auto& stage : stages) stage->BeginStep(&props);
  for (const auto& stage : stages) {
    const bool first = stage->layers().has_embedding;
    const bool last = stage->layers().has_head;
    stage->Forward(0, first ? at::Tensor() : Message(context), tokens);
    at::Tensor gradient = last ? at::Tensor() : Message(context);
    if (planner::HasWeightActions(context.layout.schedule)) {
      stage->BackwardInput(0, std::move(gradient));
      stage->BackwardWeight(0);
    } else {
      stage->Backward(0, std::move(gradient));
    }
  }
  context.training.routing = routing;
  context.device->Synchronize();
}

}  // namespace meshwright::worker
