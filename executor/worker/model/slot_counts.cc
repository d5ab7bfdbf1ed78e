#include "executor/worker/model/slot_counts.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

namespace meshwright::worker {
namespace {

// Sums the counts over the ranks that share the sequences.
void SumOfCounts(RankContext& context, std::vector<int64_t>& counts) {
  Communicator* tp = context.layout.sequence_parallel ? context.groups.tp.get() : nullptr;
  Communicator* cp = context.groups.cp.get();
  if (tp == nullptr && cp == nullptr) return;
  const auto size = static_cast<int64_t>(counts.size());
  at::Tensor sums = at::empty({size}, context.options_of(context.accumulator_dtype()));
  sums.copy_(at::from_blob(counts.data(), {size}, at::kLong));
  if (tp != nullptr) tp->AllReduce(sums, Reduction::kSum).Wait();
  if (cp != nullptr) cp->AllReduce(sums, Reduction::kSum).Wait();
  const at::Tensor here = sums.to(at::kCPU, at::kLong);
  const int64_t* values = here.const_data_ptr<int64_t>();
  counts.assign(values, values + size);
}

}  // namespace

SlotCounts::SlotCounts(RankContext& context, const planner::Experts& experts, const int32_t* picked)
    : positions_(context),
      experts_(experts.count),
      runs_(context.training.seq_len / positions_.run_tokens()),
      sequences_(context.layout.micro_batch) {
  std::vector<int64_t> counts(static_cast<size_t>(sequences_ * runs_ * experts_));
  for (int64_t token = 0; token < positions_.tokens(); ++token) {
    int64_t* of_run = counts.data() + RunOf(token) * experts_;
    for (int64_t k = 0; k < experts.top_k; ++k) ++of_run[*picked++];
  }
  SumOfCounts(context, counts);
  const int64_t* count = counts.data();
  before_.resize(static_cast<size_t>(sequences_ * (runs_ + 1) * experts_));
  int64_t* before = before_.data();
  for (int64_t sequence = 0; sequence < sequences_; ++sequence, before += experts_) {
    for (int64_t i = 0; i < runs_ * experts_; ++i, ++before) {
      before[experts_] = before[0] + *count++;
    }
  }
}

int64_t SlotCounts::RunOf(int64_t token) const {
  return positions_.SequenceOf(token) * runs_ +
         positions_.PositionOf(token) / positions_.run_tokens();
}

const int64_t* SlotCounts::BeforeRunOf(int64_t token) const {
  return before_.data() + (RunOf(token) + positions_.SequenceOf(token)) * experts_;
}

at::Tensor SlotCounts::OfSequences(const RankContext& context) const {
  std::vector<int64_t> all;
  for (int64_t sequence = 0; sequence < sequences_; ++sequence) {
    const auto begin = before_.begin() + ((sequence + 1) * (runs_ + 1) - 1) * experts_;
    all.insert(all.end(), begin, begin + experts_);
  }
  at::Tensor counts =
      at::empty({sequences_, experts_}, context.options_of(context.accumulator_dtype()));
  counts.copy_(at::from_blob(all.data(), {sequences_, experts_}, at::kLong));
  return counts;
}

}  // namespace meshwright::worker
