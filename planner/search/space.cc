#include "planner/search/space.h"

#include <algorithm>
#include <span>

namespace meshwright::planner {
namespace {

constexpr int64_t kModes = 3 * 2;   // recompute, sequence parallel
constexpr int64_t kZeroStages = 4;  // over all replicas
constexpr int64_t kHsdpStages = 3;  // for each size of groups

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

// Chunks per rank that leave every stage the same number of layers on some pipeline.
std::vector<int32_t> ChunksOf(const ModelSpec& model) {
  std::vector<int32_t> chunks = DivisorsOf(model.layers());
  for (const int32_t divisor : DivisorsOf(model.layers() + 2)) {
    // With embedding and head as layers, and at least two ranks.
    if (int64_t{divisor} * 2 <= model.layers() + 2) chunks.push_back(divisor);
  }
  std::sort(chunks.begin(), chunks.end());
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  return chunks;
}

std::vector<std::pair<ScheduleKind, int32_t>> SchedulesOf(const ModelSpec& model,
                                                          const FrameworkProfile& profile) {
  std::vector<std::pair<ScheduleKind, int32_t>> schedules;
  const std::vector<int32_t> chunks = ChunksOf(model);
  for (const int32_t vpp : chunks) {
    schedules.emplace_back(vpp == 1 ? ScheduleKind::k1f1b : ScheduleKind::kInterleaved, vpp);
  }
  if (profile.supports.has_breadth_first) {
    for (const int32_t vpp : chunks) schedules.emplace_back(ScheduleKind::kBreadthFirst, vpp);
  }
  if (profile.supports.has_zb_h1) schedules.emplace_back(ScheduleKind::kZbH1, 1);
  if (profile.supports.has_zb_v) schedules.emplace_back(ScheduleKind::kZbV, 2);
  return schedules;
}

std::vector<int32_t> MicroBatchesOf(int32_t dp, int64_t global_batch) {
  // With one sequence the rule about the batch says what is wrong.
  if (global_batch % dp != 0) return {1};
  std::vector<int32_t> sizes;
  for (int64_t size = 1; size <= kMaxMicroBatch; ++size) {
    if (global_batch / dp % size == 0) sizes.push_back(static_cast<int32_t>(size));
  }
  return sizes;
}

// Appends every mesh that continues `mesh` with sizes of `axes`, among which dp takes what the
// others leave of `ranks`.
void AddMeshes(const std::vector<int32_t>& divisors, std::span<const AxisField> axes, int64_t ranks,
               Layout mesh, std::vector<Layout>& meshes) {
  if (axes.empty()) {
    mesh.dp = static_cast<int32_t>(ranks);
    meshes.push_back(mesh);
    return;
  }
  const AxisField& axis = axes.front();
  if (axis.size == &Layout::dp) return AddMeshes(divisors, axes.subspan(1), ranks, mesh, meshes);
  for (const int32_t size : divisors) {
    if (size > axis.most || ranks % size != 0) continue;
    mesh.*axis.size = size;
    AddMeshes(divisors, axes.subspan(1), ranks / size, mesh, meshes);
  }
}

}  // namespace

SearchSpace::SearchSpace(const ModelSpec& model, int64_t devices, int64_t global_batch,
                         const FrameworkProfile& profile)
    : has_hsdp_(profile.supports.has_hsdp), schedules_(SchedulesOf(model, profile)) {
  AddMeshes(DivisorsOf(devices), kAxes, devices, Layout(), meshes_);
  for (const Layout& mesh : meshes_) {
    std::vector<int32_t>& sizes = micro_batches_[mesh.dp];
    if (sizes.empty()) sizes = MicroBatchesOf(mesh.dp, global_batch);
  }
}

std::vector<int32_t> SearchSpace::ShardGroupsOf(const Layout& mesh) const {
  std::vector<int32_t> groups;
  if (!has_hsdp_) return groups;
  for (int32_t data_ranks = 1; data_ranks <= mesh.dp / 2; ++data_ranks) {
    const int64_t ranks = int64_t{mesh.cp} * data_ranks;
    if (ranks > kMostShardRanks) break;
    if (mesh.dp % data_ranks != 0 || ranks < kLeastShardRanks) continue;
    groups.push_back(static_cast<int32_t>(ranks));
  }
  return groups;
}

int64_t SearchSpace::size() const {
  // Whether a schedule has a use is a matter of whether there is a pipeline, and of nothing else.
  const auto schedules_of = [&](const Layout& mesh) {
    return std::count_if(schedules_.begin(), schedules_.end(),
                         [&](const auto& entry) { return HasUse(mesh, entry.first); });
  };
  Layout pipeline;
  pipeline.pp = 2;
  const int64_t of_single = schedules_of(Layout());
  const int64_t of_pipeline = schedules_of(pipeline);
  int64_t points = 0;
  for (const Layout& mesh : meshes_) {
    points += (mesh.pp == 1 ? of_single : of_pipeline) *
              static_cast<int64_t>(micro_batches_.at(mesh.dp).size()) * kModes *
              (kZeroStages + kHsdpStages * static_cast<int64_t>(ShardGroupsOf(mesh).size()));
  }
  return points;
}

}  // namespace meshwright::planner
