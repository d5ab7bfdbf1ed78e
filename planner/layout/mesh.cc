#include "planner/layout/mesh.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "planner/base/field_error.h"

namespace meshwright::planner {
namespace {

absl::Status OrderError(std::string_view text) {
  return FieldError(
      "mesh_order", text,
      "must name every axis once, the fastest first, as in " + FormatMeshOrder(kDefaultMeshOrder));
}

}  // namespace

std::string FormatMeshOrder(const MeshOrder& order) {
  std::string text;
  for (const Axis axis : order) {
    if (!text.empty()) text += '-';
    text += AxisFieldOf(axis).name;
  }
  return text;
}

absl::StatusOr<MeshOrder> ParseMeshOrder(std::string_view text) {
  MeshOrder order = {};
  size_t count = 0;
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '-')) {
    const std::string_view name(part.data(), part.size());
    const auto* field = std::find_if(kAxes.begin(), kAxes.end(),
                                     [&](const AxisField& axis) { return axis.name == name; });
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
    : digits_{}, order_(order), shard_ranks_(ShardRanks(layout)) {
  for (const Axis axis : order) {
    const int64_t size = layout.*AxisFieldOf(axis).size;
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
  RankGroup group;
  for (const Axis axis : order_) {
    if (RunsAlong(role, axis)) group.Add(Of(axis));
  }
  return group;
}

std::optional<ShardGroups> Mesh::ShardGroupsOf(int64_t shard_ranks) const {
  const RankGroup replicas = GroupOf(GroupRole::kReplicas);
  ShardGroups groups;
  for (const RankDigit& digit : replicas.digits()) {
    const int64_t inside = std::min(shard_ranks, digit.size);
    if (shard_ranks % inside != 0 || digit.size % inside != 0) return std::nullopt;
    groups.shards.Add({.size = inside, .stride = digit.stride});
    groups.copies.Add({.size = digit.size / inside, .stride = digit.stride * inside});
    shard_ranks /= inside;
  }
  if (shard_ranks != 1) return std::nullopt;
  return groups;
}

}  // namespace meshwright::planner
