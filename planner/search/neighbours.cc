#include "planner/search/neighbours.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"
#include "planner/layout/keys.h"
#include "planner/layout/mesh.h"
#include "planner/search/module_recompute.h"

namespace meshwright::planner {
namespace {

// Of one axis of the search space, in an order in which a later one can follow an earlier one:
// sequence parallel needs tp, and how many layers a chunk can recompute depends on pp and vpp.
enum class Change {
  kTp,
  kCp,
  kPp,
  kExperts,
  kSchedule,
  kMicroBatch,
  kSequenceParallel,
  kZero,
  kRecompute
};
constexpr std::array kChanges = {Change::kTp,
                                 Change::kCp,
                                 Change::kPp,
                                 Change::kExperts,
                                 Change::kSchedule,
                                 Change::kMicroBatch,
                                 Change::kSequenceParallel,
                                 Change::kZero,
                                 Change::kRecompute};

// At most so many values of block:N are tried, spread evenly over a chunk's layers.
constexpr int64_t kBlockSteps = 8;

// Where one rank is left there is nothing to shard over; that is no change of its own.
void DropIdleZero(Layout& layout) {
  if (GroupSize(GroupRole::kReplicas, layout) == 1) layout.zero = layout.shard_ranks = 0;
}

// Ranks of `axis` doubled again and again in place of data-parallel ones.
template <typename Visit>
void DoubleRanks(Layout layout, int32_t Layout::*axis, const Visit& visit) {
  while (layout.dp % 2 == 0) {
    layout.*axis *= 2;
    layout.dp /= 2;
    if (axis == &Layout::pp) layout.stages = StageSplit();
    Layout moved = layout;
    DropIdleZero(moved);
    visit(moved);
  }
}

// Experts over twice as many ranks, again and again: whole ones, then parts of them, and whole ones
// in place of parts, which take as much for weights and less for activations. Rules refuse what
// does not divide.
template <typename Visit>
void DivideExperts(const ModelSpec& model, const Layout& layout, const Visit& visit) {
  if (!model.has_experts()) return;
  const int64_t ranks = StageRanks(layout);
  const auto can_double = [ranks](const Layout& l) {
    return ranks % (2 * int64_t{l.ep} * l.etp) == 0;
  };
  for (Layout whole = layout; can_double(whole);) {
    whole.ep *= 2;
    visit(whole);
  }
  for (Layout parts = layout; can_double(parts);) {
    parts.etp *= 2;
    visit(parts);
  }
  for (Layout folded = layout; folded.etp % 2 == 0;) {
    folded.etp /= 2;
    folded.ep *= 2;
    visit(folded);
  }
}

// The number of micro-batches stays whole.
template <typename Visit>
void SmallerMicroBatches(Layout layout, const Visit& visit) {
  const int32_t size = layout.micro_batch;
  for (int32_t smaller = size / 2; smaller >= 1; --smaller) {
    if (size % smaller != 0) continue;
    layout.micro_batch = smaller;
    visit(layout);
  }
}

template <typename Visit>
void MoreRecompute(const ModelSpec& model, Layout layout, const Visit& visit) {
  if (layout.recompute == Recompute::kFull) return;
  // Of most chunks: one that embedding or head takes a place in has one less.
  const int64_t layers = (model.layers() + 2) / (int64_t{layout.pp} * layout.vpp);
  const int64_t step = std::max<int64_t>(1, layers / kBlockSteps);
  for (int64_t n = layout.recompute_layers + step; n < layers; n += step) {
    Layout block = layout;
    block.recompute = Recompute::kBlock;
    block.recompute_layers = static_cast<int32_t>(n);
    block.recompute_modules = {};
    visit(block);
  }
  layout.recompute_layers = 0;
  ForEachMoreModules(layout, RecomputeModulesOf(model), [&visit](const Layout& more) {
    visit(more);
    return true;
  });
  layout.recompute_modules = {};
  if (layout.recompute == Recompute::kNone) {
    layout.recompute = Recompute::kSelective;
    visit(layout);
  }
  layout.recompute = Recompute::kFull;
  visit(layout);
}

// Calls visit(layout) for every value of one axis that saves memory.
template <typename Visit>
void Move(const ModelSpec& model, Change change, Layout layout, const Visit& visit) {
  switch (change) {
    case Change::kTp:
      return DoubleRanks(layout, &Layout::tp, visit);
    case Change::kCp:
      return DoubleRanks(layout, &Layout::cp, visit);
    case Change::kPp:
      return DoubleRanks(layout, &Layout::pp, visit);
    case Change::kExperts:
      return DivideExperts(model, layout, visit);
    case Change::kSchedule:
      if (layout.schedule == ScheduleKind::k1f1b) return;
      layout.schedule = ScheduleKind::k1f1b;
      if (layout.vpp > 1) layout.stages = StageSplit();
      layout.vpp = 1;
      return visit(layout);
    case Change::kMicroBatch:
      return SmallerMicroBatches(layout, visit);
    case Change::kSequenceParallel:
      if (layout.sequence_parallel || layout.tp == 1) return;
      layout.sequence_parallel = true;
      return visit(layout);
    case Change::kZero:
      if (GroupSize(GroupRole::kReplicas, layout) == 1) return;
      while (layout.zero < 3) {
        ++layout.zero;
        visit(layout);
      }
      return;
    case Change::kRecompute:
      return MoreRecompute(model, layout, visit);
  }
}

// Counts the neighbours it is offered and keeps the fastest that fits.
class Fastest {
 public:
  Fastest(const EstimateContext& context, const Layout& origin, int64_t allowed_bytes,
          const Cancelled& cancelled, NeighbourSearch& search)
      : context_(context),
        devices_(origin.devices()),
        allowed_bytes_(allowed_bytes),
        cancelled_(cancelled),
        search_(search) {}

  void Offer(const Layout& layout) {
    if (cancelled_ && cancelled_()) return;
    if (CheckLayout(context_, devices_, layout)) return;
    ++search_.tried;
    const PlannedLayout planned(context_, layout);
    const MemoryEstimate memory = EstimateMemory(planned);
    if (memory.total_bytes() > allowed_bytes_) return;
    const Estimate estimate = EstimateLayout(planned, memory);
    if (search_.smallest && search_.smallest->estimate.time.step_s() <= estimate.time.step_s()) {
      return;
    }
    search_.smallest = RankedLayout{layout, estimate};
  }

 private:
  const EstimateContext& context_;
  const int64_t devices_;
  const int64_t allowed_bytes_;
  const Cancelled& cancelled_;
  NeighbourSearch& search_;
};

constexpr std::array<LayoutKey, kLayoutKeyCount> kKeysByChange = [] {
  std::array<LayoutKey, kLayoutKeyCount> keys = kLayoutKeys;
  std::sort(keys.begin(), keys.end(),
            [](const LayoutKey& a, const LayoutKey& b) { return a.change_order < b.change_order; });
  return keys;
}();

std::string ShownValue(const LayoutKey& key, const Layout& layout) {
  const std::string text = ValueText(key, layout);
  return text.empty() ? std::string(key.absent) : text;
}

}  // namespace

NeighbourSearch FindSmallestChange(const EstimateContext& context, const Layout& layout,
                                   int64_t allowed_bytes, const Cancelled& cancelled) {
  NeighbourSearch search;
  Fastest fastest(context, layout, allowed_bytes, cancelled, search);
  const auto offer = [&fastest](const Layout& neighbour) { fastest.Offer(neighbour); };
  for (const Change change : kChanges) Move(context.model, change, layout, offer);
  if (search.smallest) return search;
  for (size_t i = 0; i < kChanges.size(); ++i) {
    for (size_t j = i + 1; j < kChanges.size(); ++j) {
      Move(context.model, kChanges[i], layout,
           [&](const Layout& first) { Move(context.model, kChanges[j], first, offer); });
    }
  }
  return search;
}

std::vector<std::string> DescribeChanges(const Layout& from, const Layout& to) {
  std::vector<std::string> changes;
  int32_t last = -1;  // the place of the last change
  for (const LayoutKey& key : kKeysByChange) {
    if (key.same(from, to)) continue;
    // With one rank left there is nothing to shard over, which is no change of its own.
    if (key.burden == Burden::kZero && GroupSize(GroupRole::kReplicas, to) == 1) continue;
    const std::string change =
        absl::StrCat(AbslView(key.name), " ", ShownValue(key, from), " -> ", ShownValue(key, to));
    if (key.beside && last >= 0 && last / 10 == key.change_order / 10) {
      absl::StrAppend(&changes.back(), " (", change, ")");
    } else {
      changes.push_back(change);
    }
    last = key.change_order;
  }
  return changes;
}

}  // namespace meshwright::planner
