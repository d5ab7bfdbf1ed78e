#include "planner/search/space.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "planner/block/stage_partition.h"
#include "planner/layout/mesh.h"

namespace meshwright::planner {
namespace {

std::vector<int32_t> DivisorsOf(int64_t value) {
  std::vector<int32_t> divisors;
  for (int64_t d = 1; d * d <= value; ++d) {
    if (value % d != 0) continue;
    divisors.push_back(static_cast<int32_t>(d));
    if (d * d != value) divisors.push_back(static_cast<int32_t>(value / d));
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

// Returns the numbers of chunks per rank that give every stage the same number of layers on some
// pipeline.
std::vector<int32_t> ChunksOf(const ModelSpec& model) {
  std::vector<int32_t> chunks = DivisorsOf(model.layers());
  for (const int32_t divisor : DivisorsOf(model.layers() + 2)) {
    // With embedding and head counted as layers, and at least two ranks.
    if (int64_t{divisor} * 2 <= model.layers() + 2) chunks.push_back(divisor);
  }
  std::sort(chunks.begin(), chunks.end());
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  return chunks;
}

// Returns the numbers of chunks per rank for which a pipeline of `pp` ranks has splits of its own.
std::vector<int32_t> SplitChunksOf(const ModelSpec& model, int32_t pp) {
  std::vector<int32_t> chunks;
  for (int64_t fewer = 1; fewer <= 2 * kMostFewerLayers; ++fewer) {
    const int64_t places = model.layers() + fewer;
    if (places % pp != 0) continue;
    for (const int32_t vpp : DivisorsOf(places / pp)) chunks.push_back(vpp);
  }
  std::sort(chunks.begin(), chunks.end());
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  return chunks;
}

// Returns the framework's own cut as a split; empty if it has none or the split can't hold it.
StageSplit OwnSplitOf(const ModelSpec& model, const Layout& pipeline, StagePartition partition) {
  StageSplit split;
  if (!CanPartition(model.layers(), pipeline, partition)) return split;
  for (int32_t stage = 0; stage < pipeline.pp * pipeline.vpp; ++stage) {
    if (!split.Add(1, StageOf(model, pipeline, partition, stage).layer_count)) return {};
  }
  return split;
}

// Returns the splits whose first and last stage are shorter than the others, without the
// framework's own.
std::vector<StageSplit> SplitsOf(const ModelSpec& model, const Layout& pipeline,
                                 StagePartition partition) {
  std::vector<StageSplit> splits;
  const int64_t stages = int64_t{pipeline.pp} * pipeline.vpp;
  const StageSplit own = OwnSplitOf(model, pipeline, partition);
  for (int64_t first = 0; first <= kMostFewerLayers; ++first) {
    for (int64_t last = 0; last <= kMostFewerLayers; ++last) {
      const int64_t places = model.layers() + first + last;
      const int64_t layers = places / stages;
      if (first + last == 0 || places % stages != 0 || layers < std::max(first, last)) continue;
      StageSplit split;
      if (!split.Add(1, layers - first) || !split.Add(stages - 2, layers) ||
          !split.Add(1, layers - last)) {
        continue;
      }
      if (split != own && std::find(splits.begin(), splits.end(), split) == splits.end()) {
        splits.push_back(split);
      }
    }
  }
  return splits;
}

std::vector<int32_t> MicroBatchesOf(int32_t dp, int64_t global_batch) {
  // The rule about the batch reports this; one sequence keeps the list non-empty.
  if (global_batch % dp != 0) return {1};
  std::vector<int32_t> sizes;
  for (int64_t size = 1; size <= kMaxMicroBatch; ++size) {
    if (global_batch / dp % size == 0) sizes.push_back(static_cast<int32_t>(size));
  }
  return sizes;
}

// Appends every mesh that continues `mesh` with sizes of `axes`, among which dp takes what the
// others leave of `ranks`.
void AddMeshes(const std::vector<int32_t>& divisors, std::span<const LayoutKey> axes, int64_t ranks,
               Layout mesh, std::vector<Layout>& meshes) {
  if (axes.empty()) {
    mesh.dp = static_cast<int32_t>(ranks);
    meshes.push_back(mesh);
    return;
  }
  const LayoutKey& axis = axes.front();
  if (axis.count == &Layout::dp) return AddMeshes(divisors, axes.subspan(1), ranks, mesh, meshes);
  for (const int32_t size : divisors) {
    if (size > axis.high || ranks % size != 0) continue;
    mesh.*axis.count = size;
    AddMeshes(divisors, axes.subspan(1), ranks / size, mesh, meshes);
  }
}

// Returns, for each mesh, one for every number of ranks that may divide the experts, and one whose
// experts are each divided as tensor parallel divides other matrices, where that many ranks can't
// hold whole ones. Whole experts take equally much memory for weights, less memory for activations,
// and less traffic than divided experts.
std::vector<Layout> WithExperts(const std::vector<Layout>& meshes, int64_t experts) {
  std::vector<Layout> divided;
  for (Layout mesh : meshes) {
    const int64_t ranks = StageRanks(mesh);
    for (const int32_t ep : DivisorsOf(std::gcd(experts, ranks))) {
      mesh.ep = ep;
      mesh.etp = 1;
      divided.push_back(mesh);
      const int64_t both = int64_t{ep} * mesh.tp;
      if (mesh.tp == 1 || ranks % both != 0 || experts % both == 0) continue;
      mesh.etp = mesh.tp;
      divided.push_back(mesh);
    }
  }
  return divided;
}

// Returns the greatest common divisor of the layers' numbers of experts; 0 if no layer has
// experts.
int64_t ExpertsOf(const ModelSpec& model) {
  int64_t experts = 0;
  for (const LayerGroup& group : model.groups) {
    experts = std::gcd(experts, group.ffn.experts.count);
  }
  return experts;
}

}  // namespace

std::vector<PipelineChoice> SearchSpace::PipelinesOf(const ModelSpec& model,
                                                     const FrameworkProfile& profile, int32_t pp) {
  const Supports& has = profile.supports;
  std::vector<PipelineChoice> pipelines;
  // The framework's own division into stages comes first, then the divisions that a user can give
  // to the framework.
  const auto add = [&](ScheduleKind schedule, int32_t vpp, bool own) {
    if (own) return pipelines.push_back({.schedule = schedule, .vpp = vpp, .stages = {}});
    Layout pipeline;
    pipeline.pp = pp;
    pipeline.vpp = vpp;
    for (const StageSplit& split : SplitsOf(model, pipeline, has.stage_partition)) {
      pipelines.push_back({.schedule = schedule, .vpp = vpp, .stages = split});
    }
  };
  const auto add_all = [&](const std::vector<int32_t>& chunks, bool own) {
    for (const int32_t vpp : chunks) {
      add(vpp == 1 ? ScheduleKind::k1f1b : ScheduleKind::kInterleaved, vpp, own);
    }
    // With pp 1 breadth-first is useful only where gradients accumulate layer by layer.
    if (has.has_breadth_first && (pp > 1 || has.layered_accumulation)) {
      for (const int32_t vpp : chunks) add(ScheduleKind::kBreadthFirst, vpp, own);
    }
    // Zero-bubble schedules are for pipelines: with pp 1 they equal 1F1B.
    if (pp == 1) return;
    if (has.has_zb_h1) add(ScheduleKind::kZbH1, 1, own);
    if (has.has_zb_v) add(ScheduleKind::kZbV, 2, own);
    if (has.has_zb_h2) add(ScheduleKind::kZbH2, 1, own);
    if (has.has_v_half) add(ScheduleKind::kVHalf, 2, own);
    if (!has.has_vocab_parallel) return;
    add(ScheduleKind::k1f1bVocab1, 1, own);
    add(ScheduleKind::k1f1bVocab2, 1, own);
    add(ScheduleKind::k1f1bInterlaced, 1, own);
    if (has.has_v_half) add(ScheduleKind::kVHalfVocab1, 2, own);
  };
  add_all(ChunksOf(model), /*own=*/true);
  if (has.has_stages && pp > 1) add_all(SplitChunksOf(model, pp), /*own=*/false);
  return pipelines;
}

SearchSpace::SearchSpace(const ModelSpec& model, int64_t devices, int64_t global_batch,
                         const FrameworkProfile& profile, const std::vector<Offload>& offloads)
    : has_hsdp_(profile.supports.has_hsdp && !model.has_experts()) {
  offloads_.insert(offloads_.end(), offloads.begin(), offloads.end());
  AddMeshes(DivisorsOf(devices), kAxes, devices, Layout(), meshes_);
  if (const int64_t experts = ExpertsOf(model); experts > 0) {
    meshes_ = WithExperts(meshes_, experts);
  }
  for (const Layout& mesh : meshes_) {
    std::vector<int32_t>& sizes = micro_batches_[mesh.dp];
    if (sizes.empty()) sizes = MicroBatchesOf(mesh.dp, global_batch);
    std::vector<PipelineChoice>& pipelines = pipelines_[mesh.pp];
    if (pipelines.empty()) pipelines = PipelinesOf(model, profile, mesh.pp);
  }
}

std::vector<int32_t> SearchSpace::ShardGroupsOf(const Layout& mesh) const {
  std::vector<int32_t> groups;
  if (!has_hsdp_) return groups;
  int64_t least = kLeastShardRanks;
  for (int32_t data_ranks = 1; data_ranks <= mesh.dp / 2; ++data_ranks) {
    const int64_t ranks = int64_t{mesh.cp} * data_ranks;
    if (ranks > kMostShardRanks) break;
    if (mesh.dp % data_ranks != 0 || ranks < least) continue;
    least = kShardRanksStep * ranks;
    groups.push_back(static_cast<int32_t>(ranks));
  }
  return groups;
}

std::vector<DividedStates> SearchSpace::WaysToDivide(const Layout& mesh) const {
  const std::vector<int32_t> groups = ShardGroupsOf(mesh);
  std::vector<DividedStates> ways;
  for (int32_t zero = 0; zero <= kMostZero; ++zero) {
    ways.push_back({.zero = zero, .shard_ranks = 0});
    if (zero == 0) continue;
    for (const int32_t ranks : groups) ways.push_back({.zero = zero, .shard_ranks = ranks});
  }
  return ways;
}

int64_t SearchSpace::size() const {
  constexpr int64_t kModes = 2 * int64_t{kSearchedRecomputes.size()};  // sequence parallel or not
  int64_t points = 0;
  for (const Layout& mesh : meshes_) {
    points += static_cast<int64_t>(pipelines(mesh).size() * micro_batches(mesh).size() *
                                   offloads_.size() * WaysToDivide(mesh).size()) *
              kModes;
  }
  return points;
}

}  // namespace meshwright::planner
