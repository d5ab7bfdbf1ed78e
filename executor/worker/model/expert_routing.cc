#include "executor/worker/model/expert_routing.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "executor/worker/model/slot_counts.h"
#include "executor/worker/model/stream_positions.h"

namespace meshwright::worker {
namespace {

int64_t Sum(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

bool RowsMove(const RankContext& context) { return context.layout.ep * context.layout.etp > 1; }

at::Tensor OnHost(const std::vector<int64_t>& sizes, at::ScalarType type) {
  return at::empty(sizes, at::TensorOptions().dtype(type));
}

// Copies a host tensor to the rank's device.
at::Tensor ToDevice(const RankContext& context, const at::Tensor& host) {
  if (context.device->torch_device().is_cpu()) return host;
  at::Tensor tensor = at::empty(host.sizes(), context.options_of(host.scalar_type()));
  tensor.copy_(host);
  return tensor;
}

// Returns how many rows each rank of the EP group sends to each of this rank's experts, by rank and
// expert.
std::vector<int64_t> CountsOfSenders(RankContext& context, const std::vector<int64_t>& own) {
  if (context.groups.ep == nullptr) return own;
  const auto count = static_cast<int64_t>(own.size());
  const at::Tensor sent = OnHost({count, 1}, at::kLong);
  std::copy(own.begin(), own.end(), sent.mutable_data_ptr<int64_t>());
  const at::Tensor there = ToDevice(context, sent);
  const at::Tensor received = at::empty({count, 1}, there.options());
  const std::vector<int64_t> rows(static_cast<size_t>(context.layout.ep),
                                  count / context.layout.ep);
  context.groups.ep->AllToAll(received, rows, there, rows).Wait();
  const at::Tensor here = received.cpu();
  const int64_t* counts = here.const_data_ptr<int64_t>();
  return {counts, counts + count};
}

// Concatenates these counts over the ranks of expert tensor parallelism. Gathers doubles, which
// every communicator supports.
std::vector<int64_t> CountsOfTensorRanks(RankContext& context, const std::vector<int64_t>& own) {
  if (context.groups.etp == nullptr) return own;
  const auto count = static_cast<int64_t>(own.size());
  const at::Tensor mine = OnHost({count}, at::kDouble);
  std::copy(own.begin(), own.end(), mine.mutable_data_ptr<double>());
  const at::Tensor there = ToDevice(context, mine);
  const at::Tensor all = at::empty({count * context.layout.etp}, there.options());
  context.groups.etp->AllGather(all, there).Wait();
  const at::Tensor here = all.cpu();
  const double* counts = here.const_data_ptr<double>();
  std::vector<int64_t> result;
  for (int64_t i = 0; i < all.numel(); ++i) result.push_back(static_cast<int64_t>(counts[i]));
  return result;
}

// Marks slots whose expert already has its capacity of the sequence's earlier slots.
std::vector<bool> DroppedSlots(const RankContext& context, const planner::Experts& experts,
                               const SlotCounts& counts, const int32_t* picked) {
  const int64_t capacity = experts.capacity(context.training.seq_len);
  const StreamPositions positions(context);
  std::vector<bool> drops;
  std::vector<int64_t> before;  // slots of each expert before this token
  for (int64_t token = 0; token < positions.tokens(); ++token) {
    if (positions.PositionOf(token) % positions.run_tokens() == 0) {
      const int64_t* of_run = counts.BeforeRunOf(token);
      before.assign(of_run, of_run + experts.count);
    }
    for (int64_t k = 0; k < experts.top_k; ++k) {
      drops.push_back(before[static_cast<size_t>(*picked++)]++ >= capacity);
    }
  }
  return drops;
}

// Sorts slots by expert, and by token within one. Returns each expert's number of rows. `drops` is
// empty if none is dropped.
std::vector<int64_t> SortSlots(const RankContext& context, int64_t experts,
                               const at::Tensor& picked, const std::vector<bool>& drops,
                               ExpertRouting& routing) {
  const int32_t* expert = picked.const_data_ptr<int32_t>();
  const int64_t slots = picked.numel();
  const auto dropped = [&](int64_t slot) {
    return !drops.empty() && drops[static_cast<size_t>(slot)];
  };
  std::vector<int64_t> counts(static_cast<size_t>(experts), 0);
  for (int64_t slot = 0; slot < slots; ++slot) {
    if (!dropped(slot)) ++counts[static_cast<size_t>(expert[slot])];
  }
  std::vector<int64_t> next(counts.size(), 0);
  std::partial_sum(counts.begin(), counts.end() - 1, next.begin() + 1);
  const at::Tensor row_of_slot = OnHost(picked.sizes().vec(), at::kInt);
  const at::Tensor slot_of_row = OnHost({Sum(counts)}, at::kInt);
  int32_t* rows = row_of_slot.mutable_data_ptr<int32_t>();
  int32_t* slots_of = slot_of_row.mutable_data_ptr<int32_t>();
  for (int64_t slot = 0; slot < slots; ++slot) {
    if (dropped(slot)) {
      rows[slot] = -1;
      continue;
    }
    const int64_t row = next[static_cast<size_t>(expert[slot])]++;
    rows[slot] = static_cast<int32_t>(row);
    slots_of[row] = static_cast<int32_t>(slot);
  }
  routing.row_of_slot = ToDevice(context, row_of_slot);
  routing.slot_of_row = ToDevice(context, slot_of_row);
  return counts;
}

// Returns the number of rows that this rank sends to each expert; fills in the lists of slots.
std::vector<int64_t> ListSlots(RankContext& context, const planner::Experts& experts,
                               ExpertRouting& routing) {
  const at::Tensor picked = routing.picked.cpu();
  const int32_t* of_slots = picked.const_data_ptr<int32_t>();
  routing.slots_of_experts.assign(static_cast<size_t>(experts.count), 0);
  for (int64_t slot = 0; slot < picked.numel(); ++slot) {
    ++routing.slots_of_experts[static_cast<size_t>(of_slots[slot])];
  }
  std::vector<bool> drops;
  if (experts.balance_loss > 0.0 || experts.capacity_factor > 0.0) {
    const SlotCounts counts(context, experts, of_slots);
    if (experts.balance_loss > 0.0) routing.slots_of_sequences = counts.OfSequences(context);
    if (experts.capacity_factor > 0.0) drops = DroppedSlots(context, experts, counts, of_slots);
  }
  return SortSlots(context, experts.count, picked, drops, routing);
}

// `counts` are by rank of expert tensor parallelism, rank of the EP group and expert.
void PlaceRows(const RankContext& context, const std::vector<int64_t>& counts,
               ExpertRouting& routing) {
  const auto ep = static_cast<size_t>(context.layout.ep);
  const auto etp = static_cast<size_t>(context.layout.etp);
  const size_t experts = counts.size() / ep / etp;
  std::vector<int64_t> begin(counts.size(), 0);  // first row of each count
  for (size_t brings = 0; brings < etp; ++brings) {
    int64_t at = static_cast<int64_t>(brings) * routing.padded;
    for (size_t i = brings * ep * experts; i < (brings + 1) * ep * experts; ++i) {
      begin[i] = at;
      at += counts[i];
    }
  }
  const at::Tensor places = OnHost({Sum(counts)}, at::kInt);
  int32_t* place = places.mutable_data_ptr<int32_t>();
  for (size_t expert = 0; expert < experts; ++expert) {
    for (size_t i = expert; i < counts.size(); i += experts) {
      for (int64_t row = 0; row < counts[i]; ++row) {
        *place++ = static_cast<int32_t>(begin[i] + row);
      }
    }
  }
  routing.place_of_row = ToDevice(context, places);
}

template <typename Args>
void RunOnRows(const RankContext& context, const at::Tensor& rows, Args args) {
  const at::ScalarType type = rows.scalar_type();
  args.type = type == context.dtype() ? context.element() : context.accumulator_element();
  context.device->kernels().Run(args);
}

}  // namespace

int64_t ExpertRouting::received_rows() const { return Sum(received); }

int64_t ExpertRouting::rows() const { return Sum(expert_rows); }

void ExpertRouting::ReleaseLists() {
  picked.reset();
  row_of_slot.reset();
  slot_of_row.reset();
  place_of_row.reset();
  slots_of_sequences.reset();
}

at::Tensor BalancedExperts(const RankContext& context, const planner::Experts& experts) {
  const StreamPositions positions(context);
  const at::Tensor picked = OnHost({positions.tokens(), experts.top_k}, at::kInt);
  int32_t* expert = picked.mutable_data_ptr<int32_t>();
  for (int64_t token = 0; token < positions.tokens(); ++token) {
    const int64_t first_slot = positions.PositionOf(token) * experts.top_k;
    for (int64_t k = 0; k < experts.top_k; ++k) {
      *expert++ = static_cast<int32_t>((first_slot + k) % experts.count);
    }
  }
  return ToDevice(context, picked);
}

ExpertRouting MakeRouting(RankContext& context, const planner::Experts& experts,
                          at::Tensor picked) {
  ExpertRouting routing;
  routing.picked = std::move(picked);
  const std::vector<int64_t> sent = ListSlots(context, experts, routing);
  const std::vector<int64_t> received = CountsOfSenders(context, sent);
  const auto rank_experts = static_cast<size_t>(experts.count / context.layout.ep);
  for (size_t i = 0; i < sent.size(); i += rank_experts) {
    const auto sum = [&](const std::vector<int64_t>& counts) {
      const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(i);
      return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(rank_experts), int64_t{0});
    };
    routing.sent.push_back(sum(sent));
    routing.received.push_back(sum(received));
  }
  const std::vector<int64_t> all = CountsOfTensorRanks(context, received);
  for (size_t i = 0; i < all.size(); i += received.size()) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i);
    routing.padded = std::max(
        routing.padded,
        std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(received.size()), int64_t{0}));
  }
  routing.expert_rows.assign(rank_experts, 0);
  for (size_t i = 0; i < all.size(); ++i) routing.expert_rows[i % rank_experts] += all[i];
  if (RowsMove(context)) PlaceRows(context, all, routing);
  return routing;
}

at::Tensor ToExperts(RankContext& context, const ExpertRouting& routing, at::Tensor rows) {
  if (!RowsMove(context)) return rows;
  const int64_t width = rows.size(1);
  const int64_t received_rows = routing.received_rows();
  if (context.groups.ep != nullptr || routing.padded > received_rows) {
    const at::Tensor received = at::empty({routing.padded, width}, rows.options());
    const at::Tensor real = received.narrow(0, 0, received_rows);
    if (context.groups.ep != nullptr) {
      context.groups.ep->AllToAll(real, routing.received, rows, routing.sent).Wait();
    } else {
      real.copy_(rows);
    }
    received.narrow(0, received_rows, routing.padded - received_rows).zero_();
    rows = received;
  }
  if (context.groups.etp != nullptr) {
    const at::Tensor all = at::empty({routing.padded * context.layout.etp, width}, rows.options());
    context.groups.etp->AllGather(all, rows).Wait();
    rows = all;
  }
  at::Tensor ordered = at::empty({routing.rows(), width}, rows.options());
  RunOnRows(context, rows,
            kernels::GatherRows{.type = {},
                                .rows = routing.rows(),
                                .width = width,
                                .divisor = 1,
                                .index = routing.place_of_row.const_data_ptr<int32_t>(),
                                .x = rows.const_data_ptr(),
                                .y = ordered.mutable_data_ptr()});
  return ordered;
}

at::Tensor FromExperts(RankContext& context, const ExpertRouting& routing, at::Tensor rows) {
  if (!RowsMove(context)) return rows;
  const int64_t width = rows.size(1);
  at::Tensor placed = at::empty({routing.padded * context.layout.etp, width}, rows.options());
  RunOnRows(context, rows,
            kernels::ScatterRows{.type = {},
                                 .rows = routing.rows(),
                                 .width = width,
                                 .index = routing.place_of_row.const_data_ptr<int32_t>(),
                                 .x = rows.const_data_ptr(),
                                 .y = placed.mutable_data_ptr()});
  rows = std::move(placed);
  if (context.groups.etp != nullptr) {
    at::Tensor sum = at::empty({routing.padded, width}, rows.options());
    context.groups.etp->ReduceScatter(sum, rows).Wait();
    rows = std::move(sum);
  }
  at::Tensor real = rows.narrow(0, 0, routing.received_rows());
  if (context.groups.ep == nullptr) return real;
  at::Tensor sent = at::empty({routing.sent_rows(), width}, rows.options());
  context.groups.ep->AllToAll(sent, routing.sent, real, routing.received).Wait();
  return sent;
}

}  // namespace meshwright::worker
