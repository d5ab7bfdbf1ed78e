#include "planner/search/neighbours.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"
#include "planner/layout/keys.h"
#include "planner/layout/mesh.h"
#include "planner/search/module_recompute.h"

namespace meshwright::planner {
namespace {

// A change of one axis of the search space. In this order a later change can follow an earlier one:
// sequence parallelism needs tp, and the number of layers that a chunk can recompute depends on pp
// and vpp.
enum class Change {
  kTp,
  kCp,
  kPp,
  kExperts,
  kSchedule,
  kMicroBatch,
  kSequenceParallel,
  kZero,
  kRecompute,
  kOffload
};
constexpr std::array kChanges = {Change::kTp,
                                 Change::kCp,
                                 Change::kPp,
                                 Change::kExperts,
                                 Change::kSchedule,
                                 Change::kMicroBatch,
                                 Change::kSequenceParallel,
                                 Change::kZero,
                                 Change::kRecompute,
                                 Change::kOffload};

// At most so many values of block:N and act:N are tried, spread evenly over a chunk's layers.
constexpr int64_t kBlockSteps = 8;

// If only one replica is left, ZeRO has nothing to shard over, so dropping ZeRO does not count as a
// change.
void DropIdleZero(Layout& layout) {
  if (GroupSize(GroupRole::kReplicas, layout) == 1) layout.zero = layout.shard_ranks = 0;
}

// Visits the layouts in which the ranks of `axis` are doubled, once or repeatedly, and replace
// data-parallel ranks.
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

// Visits the layouts that divide experts over twice as many ranks, once or repeatedly: first whole
// experts, then parts of experts. Also visits whole experts in place of parts, because whole
// experts take equally much memory for weights and less for activations. Rules refuse sizes that do
// not divide.
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

// The number of layers of most chunks; a chunk in which the embedding or the head takes a layer's
// place has one layer less.
int64_t LayersOfAChunk(const ModelSpec& model, const Layout& layout) {
  return (model.layers() + 2) / (int64_t{layout.pp} * layout.vpp);
}

template <typename Visit>
void MoreRecompute(const ModelSpec& model, Layout layout, const Visit& visit) {
  if (layout.recompute == Recompute::kFull) return;
  const int64_t layers = LayersOfAChunk(model, layout);
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

int StatesMovedBy(const Offload& offload) {
  return int{offload.optimizer} + int{offload.parameters} + int{offload.gradients};
}

// The last layer of a chunk gains nothing from moving. Rules refuse what the framework or the host
// does not have.
template <typename Visit>
void MoreOffload(const ModelSpec& model, Layout layout, const Visit& visit) {
  const Offload before = layout.offload;
  const int64_t layers = LayersOfAChunk(model, layout);
  const int64_t step = std::max<int64_t>(1, layers / kBlockSteps);
  constexpr int kMostStates = 3;  // optimizer, weights, gradients
  for (int states = StatesMovedBy(before); states <= kMostStates; ++states) {
    layout.offload = before;
    layout.offload.optimizer = states >= 1;
    layout.offload.parameters = states >= 2;
    layout.offload.gradients = states >= 3;
    if (layout.offload != before) visit(layout);
    for (int64_t n = before.activation_layers + step; n < layers; n += step) {
      layout.offload.activation_layers = static_cast<int32_t>(n);
      visit(layout);
    }
  }
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
    case Change::kOffload:
      return MoreOffload(model, layout, visit);
  }
}

constexpr size_t kMostSize = 3;  // two axes, of which an option changes the result

// Options that change together, and the training that they make.
struct ChangedOptions {
  TrainingSpec training;
  OptionValues values = {};
  size_t axes = 0;
  size_t size = 0;  // more than the axes if the result changes
};

// Keeps the fastest change of each size.
class FastestOfEachSize {
 public:
  // Returns the step time below which a change of this size is better than all before it.
  double Worth(size_t size) const {
    double step_s = std::numeric_limits<double>::infinity();
    for (size_t smaller = 0; smaller <= size; ++smaller) {
      if (!best_[smaller]) continue;
      const Estimate& estimate = best_[smaller]->estimate;
      step_s = std::min(step_s, smaller == size ? estimate.time.step_s() : LessAnAxis(estimate));
    }
    return step_s;
  }

  void Add(const RankedLayout& ranked, size_t size) {
    if (ranked.estimate.time.step_s() < Worth(size)) best_[size] = ranked;
  }

  // Returns the smallest change; a larger one only where it is worth its further axes.
  std::optional<RankedLayout> Smallest() const {
    const std::optional<RankedLayout>* smallest = &best_.front();
    for (const std::optional<RankedLayout>& best : best_) {
      if (!best) continue;
      if (*smallest && best->estimate.time.step_s() >= LessAnAxis((*smallest)->estimate)) continue;
      smallest = &best;
    }
    return *smallest;
  }

 private:
  static double LessAnAxis(const Estimate& estimate) {
    return (1.0 - kWorthAnAxis) * estimate.time.step_s();
  }

  std::array<std::optional<RankedLayout>, kMostSize + 1> best_ = {};  // by size
};

bool HaveSameMesh(const Layout& a, const Layout& b) {
  return a.tp == b.tp && a.cp == b.cp && a.pp == b.pp && a.ep == b.ep && a.etp == b.etp;
}

// Counts the neighbours it is offered and keeps the best that fit.
class Fastest {
 public:
  Fastest(const EstimateContext& context, const Layout& origin, int64_t allowed_bytes,
          const Cancelled& cancelled)
      : context_(context), origin_(origin), allowed_bytes_(allowed_bytes), cancelled_(cancelled) {}

  // Returns whether the layout fits and is better than what fitted before.
  bool Offer(const Layout& layout, const ChangedOptions& options, size_t size) {
    if (cancelled_ && cancelled_()) return false;
    const EstimateContext context = {context_.model,     context_.cluster,         options.training,
                                     context_.profile,   context_.ranks_run_alone, context_.shapes,
                                     context_.correction};
    if (CheckLayout(context, origin_.devices(), layout)) return false;
    ++tried_;
    const PlannedLayout planned(context, layout);
    const bool same_mesh = HaveSameMesh(origin_, layout);
    // The time is known before the memory, which takes longer to compute and only adds to it.
    const double least_s = EstimateLayout(planned, MemoryEstimate()).time.step_s();
    if (!(least_s < (same_mesh ? same_mesh_ : any_).Worth(size))) return false;
    const MemoryEstimate memory = EstimateMemory(planned);
    if (memory.total_bytes() > allowed_bytes_) return false;
    const RankedLayout ranked{layout, EstimateLayout(planned, memory), options.values};
    if (same_mesh) same_mesh_.Add(ranked, size);
    const bool is_better = least_s < any_.Worth(size);
    any_.Add(ranked, size);
    return is_better;
  }

  NeighbourSearch Take() const {
    NeighbourSearch search = {.tried = tried_, .smallest = any_.Smallest()};
    if (search.smallest && !HaveSameMesh(origin_, search.smallest->layout)) {
      search.same_mesh = same_mesh_.Smallest();
    }
    return search;
  }

 private:
  const EstimateContext& context_;
  const Layout& origin_;
  const int64_t allowed_bytes_;
  const Cancelled& cancelled_;
  int64_t tried_ = 0;
  FastestOfEachSize any_;
  FastestOfEachSize same_mesh_;  // among those with the mesh of the origin
};

// Returns `before` with one more option changed, or nullopt if that one has changed.
std::optional<ChangedOptions> With(ChangedOptions before, const OptionSaving& saving) {
  const auto& [name, value] = saving.choice.values.front();
  for (const auto& changed : before.values) {
    if (changed.first == name) return std::nullopt;
  }
  SetOption(name, name, value, before.training).IgnoreError();  // the caller has read it
  before.values.emplace_back(name, value);
  before.axes += 1;
  before.size += saving.changes_result() ? 2 : 1;
  return before;
}

// Calls visit(options) for every saving that `before` does not have. Once visit() returns true, the
// other values of the same option are skipped.
template <typename Visit>
void ChangeOption(const std::vector<OptionSaving>& savings, const ChangedOptions& before,
                  size_t from, const Visit& visit) {
  std::string done;
  for (size_t i = from; i < savings.size(); ++i) {
    const std::string& name = savings[i].choice.values.front().first;
    if (name == done) continue;
    const std::optional<ChangedOptions> options = With(before, savings[i]);
    if (options && visit(*options, i)) done = name;
  }
}

// Offers every change of up to two axes, the smaller ones first.
class ChangeWalk {
 public:
  ChangeWalk(const EstimateContext& context, const Layout& layout,
             const std::vector<OptionSaving>& savings, Fastest& fastest)
      : model_(context.model),
        layout_(layout),
        savings_(savings),
        own_{.training = context.training},
        fastest_(fastest) {}

  void Singles() {
    for (const Change change : kChanges) {
      Move(model_, change, layout_,
           [&](const Layout& neighbour) { fastest_.Offer(neighbour, own_, 1); });
    }
    ChangeOption(savings_, own_, 0, [&](const ChangedOptions& options, size_t) {
      return fastest_.Offer(layout_, options, options.size);
    });
  }

  void Pairs() {
    for (size_t i = 0; i < kChanges.size(); ++i) {
      for (size_t j = i + 1; j < kChanges.size(); ++j) {
        Move(model_, kChanges[i], layout_, [&](const Layout& first) {
          Move(model_, kChanges[j], first,
               [&](const Layout& second) { fastest_.Offer(second, own_, 2); });
        });
      }
    }
    for (const Change change : kChanges) {
      Move(model_, change, layout_, [&](const Layout& neighbour) {
        ChangeOption(savings_, own_, 0, [&](const ChangedOptions& options, size_t) {
          return fastest_.Offer(neighbour, options, options.size + 1);
        });
      });
    }
    ChangeOption(savings_, own_, 0, [&](const ChangedOptions& first, size_t i) {
      ChangeOption(savings_, first, i + 1, [&](const ChangedOptions& both, size_t) {
        return fastest_.Offer(layout_, both, std::min(both.size, kMostSize));
      });
      return false;
    });
  }

 private:
  const ModelSpec& model_;
  const Layout& layout_;
  const std::vector<OptionSaving>& savings_;
  const ChangedOptions own_;
  Fastest& fastest_;
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
                                   int64_t allowed_bytes, const Cancelled& cancelled,
                                   const std::vector<OptionSaving>& savings) {
  Fastest fastest(context, layout, allowed_bytes, cancelled);
  ChangeWalk walk(context, layout, savings, fastest);
  walk.Singles();
  walk.Pairs();
  return fastest.Take();
}

std::vector<std::string> DescribeChanges(const Layout& from, const RankedLayout& to) {
  std::vector<std::string> changes = DescribeChanges(from, to.layout);
  for (std::string& change : DescribeOptions(to.options)) changes.push_back(std::move(change));
  return changes;
}

std::vector<std::string> DescribeChanges(const Layout& from, const Layout& to) {
  std::vector<std::string> changes;
  int32_t last = -1;  // the place of the last change
  for (const LayoutKey& key : kKeysByChange) {
    if (key.same(from, to)) continue;
    // If only one replica is left, ZeRO has nothing to shard over, which does not count as a
    // change.
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
