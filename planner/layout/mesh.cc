#include "planner/layout/mesh.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

absl::Status OrderError(std::string_view text) {
  return FieldError(
      "mesh_order", text,
      "must name every axis once, the fastest first, as in " + FormatMeshOrder(kDefaultMeshOrder));
}

// A group of ranks as groups of neighbours in it, and the ranks with the same place in each.
struct SplitGroup {
  RankGroup inside;
  RankGroup across;
};

// With `ranks` neighbours each; nullopt if these are no group of the same shape everywhere.
std::optional<SplitGroup> Split(const RankGroup& group, int64_t ranks) {
  SplitGroup split;
  for (const RankDigit& digit : group.digits()) {
    const int64_t inside = std::min(ranks, digit.size);
    if (ranks % inside != 0 || digit.size % inside != 0) return std::nullopt;
    split.inside.Add({.size = inside, .stride = digit.stride});
    split.across.Add({.size = digit.size / inside, .stride = digit.stride * inside});
    ranks /= inside;
  }
  if (ranks != 1) return std::nullopt;
  return split;
}

}  // namespace

std::string FormatMeshOrder(const MeshOrder& order) {
  std::string text;
  for (const Axis axis : order) {
    if (!text.empty()) text += '-';
    text += KeyOf(axis).name;
  }
  return text;
}

absl::StatusOr<MeshOrder> ParseMeshOrder(std::string_view text) {
  MeshOrder order = {};
  size_t count = 0;
  for (const absl::string_view part : absl::StrSplit(AbslView(text), '-')) {
    const std::string_view name(part.data(), part.size());
    const auto* field = std::find_if(kAxes.begin(), kAxes.end(),
                                     [&](const LayoutKey& axis) { return axis.name == name; });
    const auto axis = static_cast<Axis>(field - kAxes.begin());
    const auto* named = order.begin() + static_cast<ptrdiff_t>(count);
    if (field == kAxes.end() || std::find<const Axis*>(order.begin(), named, axis) != named) {
      return OrderError(text);
    }
    order[count++] = axis;
  }
  if (count != order.size()) return OrderError(text);
  return order;
}

Mesh::Mesh(const Layout& layout, const MeshOrder& order)
    : digits_{},
      order_(order),
      shard_ranks_(ShardRanks(layout)),
      expert_ranks_(layout.ep),
      expert_tensor_ranks_(layout.etp) {
  for (const Axis axis : order) {
    const int64_t size = layout.*KeyOf(axis).count;
    digits_[static_cast<size_t>(axis)] = {.size = size, .stride = ranks_};
    ranks_ *= size;
  }
}

RankGroup Mesh::GroupOf(GroupRole role) const {
  if (role == GroupRole::kModelEnds) {
    const RankDigit& pipeline = Of(Axis::kPp);
    if (pipeline.size == 1) return {};
    return {2, (pipeline.size - 1) * pipeline.stride};
  }
  if (role == GroupRole::kShards) return ShardGroupsOf(shard_ranks_).value().shards;
  if (role == GroupRole::kCopies) return ShardGroupsOf(shard_ranks_).value().copies;
  if (role == GroupRole::kExperts) return expert_groups().value().experts;
  if (role == GroupRole::kExpertTensor) return expert_groups().value().tensor;
  if (role == GroupRole::kExpertReplicas) return expert_groups().value().replicas;
  RankGroup group;
  for (const Axis axis : order_) {
    if (RunsAlong(role, axis)) group.Add(Of(axis));
  }
  return group;
}

std::optional<ShardGroups> Mesh::ShardGroupsOf(int64_t shard_ranks) const {
  const std::optional<SplitGroup> split = Split(GroupOf(GroupRole::kReplicas), shard_ranks);
  if (!split) return std::nullopt;
  return ShardGroups{.shards = split->inside, .copies = split->across};
}

std::optional<ShardGroups> Mesh::ExpertShardGroupsOf(int64_t shard_ranks) const {
  const std::optional<SplitGroup> split = Split(expert_groups().value().replicas, shard_ranks);
  if (!split) return std::nullopt;
  return ShardGroups{.shards = split->inside, .copies = split->across};
}

std::optional<ExpertGroups> Mesh::expert_groups() const {
  RankGroup stage;
  for (const Axis axis : order_) {
    if (axis != Axis::kPp) stage.Add(Of(axis));
  }
  const std::optional<SplitGroup> tensor = Split(stage, expert_tensor_ranks_);
  if (!tensor) return std::nullopt;
  const std::optional<SplitGroup> experts = Split(tensor->across, expert_ranks_);
  if (!experts) return std::nullopt;
  return ExpertGroups{
      .tensor = tensor->inside, .experts = experts->inside, .replicas = experts->across};
}

}  // namespace meshwright::planner
