// Mesh places the ranks of a layout along its axes. It gives the place of a rank on each axis and
// the groups of ranks that communicate. No other code computes numbers of ranks or groups.
//
// The axes have an order, in which the first one runs fastest over the ranks. The default is
// Megatron-LM's, tp-cp-dp-pp; a framework's profile may name another. All functions are pure, and
// only those that return a list or a text allocate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/group_role.h"
#include "planner/layout/keys.h"
#include "planner/layout/layout.h"
#include "planner/layout/rank_group.h"

namespace meshwright::planner {

// Every axis once, the fastest first.
using MeshOrder = std::array<Axis, kAxisCount>;
inline constexpr MeshOrder kDefaultMeshOrder = {Axis::kTp, Axis::kCp, Axis::kDp, Axis::kPp};

// Returns the order as a text, "tp-cp-dp-pp".
std::string FormatMeshOrder(const MeshOrder& order);
// Returns the order that `text` names. Returns InvalidArgument, which names `text` and what is
// wrong with it, if it is not an order.
absl::StatusOr<MeshOrder> ParseMeshOrder(std::string_view text);

// Returns whether a group of the role holds all ranks along the axis.
constexpr bool RunsAlong(GroupRole role, Axis axis) {
  switch (role) {
    case GroupRole::kWorld:
      return true;
    case GroupRole::kTensor:
      return axis == Axis::kTp;
    case GroupRole::kContext:
      return axis == Axis::kCp;
    case GroupRole::kReplicas:
      return axis == Axis::kCp || axis == Axis::kDp;
    case GroupRole::kData:
      return axis == Axis::kDp;
    case GroupRole::kPipeline:
      return axis == Axis::kPp;
    case GroupRole::kShards:  // kShards and kCopies divide kReplicas
    case GroupRole::kCopies:
    case GroupRole::kModelEnds:
    case GroupRole::kExperts:  // groups of experts divide the ranks of a stage
    case GroupRole::kExpertTensor:
    case GroupRole::kExpertReplicas:
      break;
  }
  return false;
}

// Returns the product of the sizes of the axes along which the role runs.
constexpr int64_t RanksAlong(GroupRole role, const Layout& layout) {
  return ProductOfAxes(layout, [role](Axis axis) { return RunsAlong(role, axis); });
}

// Returns the number of ranks among which ZeRO divides states: all replicas, or under HSDP the
// layout's hs=.
constexpr int64_t ShardRanks(const Layout& layout) {
  return layout.shard_ranks > 0 ? layout.shard_ranks : RanksAlong(GroupRole::kReplicas, layout);
}

// Returns the number of ranks that share a stage. Experts are divided among these ranks.
constexpr int64_t StageRanks(const Layout& layout) {
  return ProductOfAxes(layout, [](Axis axis) { return axis != Axis::kPp; });
}

// Returns the number of ranks in a group of the role, which does not depend on the mesh's order.
// Returns 1 for kModelEnds, whose groups are not all of one size.
constexpr int64_t GroupSize(GroupRole role, const Layout& layout) {
  switch (role) {
    case GroupRole::kShards:
      return ShardRanks(layout);
    case GroupRole::kCopies:
      return RanksAlong(GroupRole::kReplicas, layout) / ShardRanks(layout);
    case GroupRole::kExperts:
      return layout.ep;
    case GroupRole::kExpertTensor:
      return layout.etp;
    case GroupRole::kExpertReplicas:
      return StageRanks(layout) / (int64_t{layout.ep} * layout.etp);
    default:
      return RanksAlong(role, layout);
  }
}

// Returns the number of ranks among which ZeRO divides the states of the same experts. Under HSDP
// the replicas within one shard group divide these states, so that a group of hs * tp ranks holds
// all experts once. REQUIRES: ep * etp divides hs * tp.
constexpr int64_t ExpertShardRanks(const Layout& layout) {
  if (layout.shard_ranks == 0) return GroupSize(GroupRole::kExpertReplicas, layout);
  return int64_t{layout.shard_ranks} * layout.tp / (int64_t{layout.ep} * layout.etp);
}

// The way in which replicas divide states: neighbours have different shards, and ranks with the
// same shard add up their gradients.
struct ShardGroups {
  RankGroup shards;
  RankGroup copies;  // one rank if all replicas divide states
};

// The way in which the ranks of a stage divide experts. Neighbours share the matrices of the same
// experts (`tensor`). At larger distances ranks hold other experts (`experts`), and at the largest
// distances copies of the same experts (`replicas`). Megatron Core has the same order (arXiv
// 2504.14960).
struct ExpertGroups {
  RankGroup tensor;
  RankGroup experts;
  RankGroup replicas;
};

class Mesh {
 public:
  explicit Mesh(const Layout& layout, const MeshOrder& order = kDefaultMeshOrder);

  int64_t ranks() const { return ranks_; }
  int64_t size(Axis axis) const { return Of(axis).size; }
  int64_t stride(Axis axis) const { return Of(axis).stride; }

  // Returns the shape that all groups of the role have; RankGroup::RanksWith() lists the ranks of
  // one group. A group of kModelEnds is the first and the last rank of a pipeline. REQUIRES: for
  // kShards and kCopies, ShardGroupsOf(ShardRanks(layout)) has a value; for groups of experts,
  // expert_groups() has one.
  RankGroup GroupOf(GroupRole role) const;

  // Returns how the replicas divide states among `shard_ranks` neighbours. Returns nullopt if such
  // neighbours do not form groups of one shape. `shard_ranks` must divide the number of replicas.
  // If other axes lie between cp and dp in the mesh's order, `shard_ranks` must also divide the
  // size of the faster one of cp and dp, or be a multiple of it.
  std::optional<ShardGroups> ShardGroupsOf(int64_t shard_ranks) const;

  // Returns how the ranks of a stage divide experts. Returns nullopt if ep * etp neighbours do not
  // form groups of one shape. The product must divide tp * cp * dp.
  std::optional<ExpertGroups> expert_groups() const;

  // Returns how the replicas of the same experts divide their states among `shard_ranks`
  // neighbours. Returns nullopt if such neighbours do not form groups of one shape. REQUIRES:
  // expert_groups() has a value.
  std::optional<ShardGroups> ExpertShardGroupsOf(int64_t shard_ranks) const;

  // Returns the place of a rank on an axis, from 0. REQUIRES: 0 <= rank < ranks().
  int32_t PlaceOf(int32_t rank, Axis axis) const {
    return static_cast<int32_t>(rank / stride(axis) % size(axis));
  }
  // Returns the rank whose place on the axis is `place` and whose places on the other axes equal
  // those of `rank`.
  int32_t Moved(int32_t rank, Axis axis, int32_t place) const {
    return rank + static_cast<int32_t>((place - PlaceOf(rank, axis)) * stride(axis));
  }

 private:
  const RankDigit& Of(Axis axis) const { return digits_[static_cast<size_t>(axis)]; }

  std::array<RankDigit, kAxisCount> digits_;  // by Axis
  MeshOrder order_;
  int64_t ranks_ = 1;
  int64_t shard_ranks_;
  int64_t expert_ranks_;
  int64_t expert_tensor_ranks_;
};

}  // namespace meshwright::planner
