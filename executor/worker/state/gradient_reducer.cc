#include "executor/worker/state/gradient_reducer.h"

#include <algorithm>
#include <utility>

#include "executor/worker/state/release_storage.h"

namespace meshwright::worker {
namespace {

// Scatters that may be under way while another unit's bucket fills.
constexpr size_t kScattersBeside = 1;

template <typename UnderWay>
bool HasUnit(const std::deque<UnderWay>& under_way, const FlatUnit& unit) {
  return std::any_of(under_way.begin(), under_way.end(),
                     [&](const UnderWay& one) { return one.unit == &unit; });
}

// Sums in place, over the TP group, gradients of weights that every rank holds whole and applies to
// only a part of the tokens or heads: norms of heads, and with sequence parallel also routers and
// norms of the stream. Excludes biases added after the group's sum, whose gradient already covers
// all tokens.
void SumReplicatedGradients(RankContext& context, const FlatUnit& unit) {
  if (context.groups.tp == nullptr) return;
  const at::Tensor partial =
      context.layout.sequence_parallel ? unit.stream_gradients() : unit.head_norm_gradients();
  if (partial.numel() == 0) return;
  context.groups.tp->AllReduce(partial, Reduction::kSum).Wait();
}

// The same for matrices: with sequence parallel a rank sees only its share of the tokens. Call for
// each bucket where a unit's gradients are reduced in several. REQUIRES: the unit's gradients are
// open.
void SumReplicatedMatrixGradients(RankContext& context, const FlatUnit& unit) {
  if (!context.layout.sequence_parallel) return;
  const at::Tensor partial = unit.whole_matrix_gradients();
  if (partial.numel() == 0) return;
  context.groups.tp->AllReduce(partial, Reduction::kSum).Wait();
}

}  // namespace

void GradientReducer::BeginStep() {
  passes_.clear();
  complete_.clear();
}

void GradientReducer::Open(FlatUnit& unit) {
  if (unit.gradients_open()) return;
  while (scatters_.size() > kScattersBeside) FinishOldestScatter();
  unit.OpenGradients();
}

bool GradientReducer::CompletesStep(const FlatUnit& unit, bool pass_complete) {
  return pass_complete && ++passes_[&unit] == unit.users();
}

void GradientReducer::Added(FlatUnit& unit, bool pass_complete) {
  const bool last = CompletesStep(unit, pass_complete);
  if (last) {
    SumReplicatedGradients(context_, unit);
    complete_.push_back(&unit);
  }
  if (ReducesMicroBatches(unit)) {
    const bool layered = context_.layout.schedule == planner::ScheduleKind::kBreadthFirst;
    if (layered && !pass_complete) return;
    // A unit of vectors alone opens only for the last reduction.
    if (last) Open(unit);
    if (unit.gradients_open()) Start(unit, last);
  } else if (last) {
    Start(unit, last);
  }
}

void GradientReducer::Start(FlatUnit& unit, bool last) {
  SumReplicatedMatrixGradients(context_, unit);
  const auto [shards, copies] = unit.replicas();
  if (shards == nullptr) {
    StartSumOfCopies(unit);
    return;
  }
  at::Tensor gradients = unit.CloseGradients(/*with_vectors=*/last);
  Pending pending = shards->ReduceScatter(unit.OwnPart(gradients), gradients);
  scatters_.push_back({&unit, last, std::move(gradients), std::move(pending)});
  // Finishes scatters early, since sums of copies are hidden only if they start during the
  // backward.
  while (copies != nullptr && scatters_.size() > kScattersBeside + 1) FinishOldestScatter();
}

void GradientReducer::StartSumOfCopies(FlatUnit& unit) {
  Communicator* copies = unit.replicas().copies;
  if (copies == nullptr) return;
  sums_of_copies_.push_back({&unit, copies->AllReduce(unit.own_gradients(), Reduction::kSum)});
}

void GradientReducer::FinishOldestScatter() {
  Scatter scatter = std::move(scatters_.front());
  scatters_.pop_front();
  scatter.pending.Wait();
  if (ReducesMicroBatches(*scatter.unit)) {
    scatter.unit->AddToOwnGradients(scatter.unit->OwnPart(scatter.gradients));
    ReleaseStorage(scatter.gradients);
  }
  if (scatter.last) StartSumOfCopies(*scatter.unit);
}

void GradientReducer::WaitFor(const FlatUnit& unit) {
  while (HasUnit(scatters_, unit)) FinishOldestScatter();
  while (HasUnit(sums_of_copies_, unit)) {
    sums_of_copies_.front().pending.Wait();
    sums_of_copies_.pop_front();
  }
}

}  // namespace meshwright::worker
