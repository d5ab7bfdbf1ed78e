// The ranks of a layout as a mesh of its axes: the place of a rank on each axis, and the groups of
// ranks that communicate. Every number of ranks and every group is computed here.
//
// The axes have an order, in which the first one runs fastest over the ranks. Megatron-LM's default
// is tp-cp-dp-pp (its option is called the order of the initialization of model parallel), and a
// framework's profile may name another. All functions are pure, and only those that return a list
// allocate.
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

// "tp-cp-dp-pp".
std::string FormatMeshOrder(const MeshOrder& order);
// InvalidArgument naming `text` and what is wrong with it.
absl::StatusOr<MeshOrder> ParseMeshOrder(std::string_view text);

// Whether a group of the role holds all ranks along the axis.
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
    case GroupRole::kShards:  // together they are the replicas, each a part
    case GroupRole::kCopies:
    case GroupRole::kModelEnds:
    case GroupRole::kExperts:  // together they are the ranks of a stage, each a part
    case GroupRole::kExpertTensor:
    case GroupRole::kExpertReplicas:
      break;
  }
  return false;
}

// Returns how many ranks all axes together have that the role runs along.
constexpr int64_t RanksAlong(GroupRole role, const Layout& layout) {
  return ProductOfAxes(layout, [role](Axis axis) { return RunsAlong(role, axis); });
}

// Returns among how many ranks ZeRO divides states: all replicas, or under HSDP as many as hs=
// says.
constexpr int64_t ShardRanks(const Layout& layout) {
  return layout.shard_ranks > 0 ? layout.shard_ranks : RanksAlong(GroupRole::kReplicas, layout);
}

// Returns how many ranks share a stage, over which experts are divided.
constexpr int64_t StageRanks(const Layout& layout) {
  return ProductOfAxes(layout, [](Axis axis) { return axis != Axis::kPp; });
}

// Returns how many ranks a group of the role has, which no order changes; 1 for kModelEnds, whose
// groups are not of one size.
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

// The replicas under HSDP: neighbours divide states, and ranks with the same shard add up
// gradients.
struct ShardGroups {
  RankGroup shards;
  RankGroup copies;  // one rank where states are divided over all replicas
};

// The ranks of a stage as the experts' mesh: neighbours hold parts of the same experts, then other
// experts, then copies (Megatron Core's order, arXiv 2504.14960).
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
  // one of them. The two ends of a model are pp - 1 places of the pipeline apart. For kShards and
  // kCopies requires that ShardGroupsOf() knows groups of ShardRanks() of the layout; for groups of
  // experts that expert_groups() has them.
  RankGroup GroupOf(GroupRole role) const;

  // Returns how the replicas divide states. Nullopt where `shard_ranks` of them in the order of the
  // mesh are no group of the same shape everywhere: it must divide them, and where the mesh's order
  // has other axes between dp and cp, whole axes of them.
  std::optional<ShardGroups> ShardGroupsOf(int64_t shard_ranks) const;

  // Returns how the ranks of a stage divide experts. Nullopt where ep * etp of them in the order of
  // the mesh are no group of the same shape everywhere: the product must divide tp * cp * dp.
  std::optional<ExpertGroups> expert_groups() const;

  // Returns the place of a rank on an axis, from 0. Requires 0 <= rank < ranks().
  int32_t PlaceOf(int32_t rank, Axis axis) const {
    return static_cast<int32_t>(rank / stride(axis) % size(axis));
  }
  // Returns the rank whose place on the axis is `place` and whose other places are those of `rank`.
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
