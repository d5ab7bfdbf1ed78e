// GroupRole says why ranks of a run form a group. planner/layout/mesh.h says which ranks form it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace meshwright::planner {

// The reason why ranks form a group.
enum class GroupRole : uint8_t {
  kWorld,    // all ranks of the run
  kTensor,   // the ranks that share every layer's matrices
  kContext,  // the ranks that share a sequence
  // The holders of the same dense parameters. They see different tokens, sum gradients and, with
  // ZeRO, divide states.
  kReplicas,
  kData,      // the replicas that see different sequences: those along dp
  kShards,    // the replicas that divide states among each other; under HSDP a part of kReplicas
  kCopies,    // the replicas with the same shard, one from each group of kShards
  kPipeline,  // the ranks that a micro-batch passes through
  // The holders of the first and the last stage, which have copies of tied embeddings.
  kModelEnds,
  kExperts,       // the ranks that hold different experts and send each other tokens
  kExpertTensor,  // the ranks that share the matrices of the same experts
  // The holders of the same parts of experts. They do for these parts what kReplicas do for other
  // parameters.
  kExpertReplicas
};

// The names of the roles, by GroupRole. Communicators, records and traces use them.
inline constexpr std::array<std::string_view, 12> kGroupRoleNames = {
    "world",           "tp", "cp",  "replicas",       "dp", "shards", "copies", "pp",
    "tied_embeddings", "ep", "etp", "expert_replicas"};

constexpr std::string_view GroupRoleName(GroupRole role) {
  return kGroupRoleNames[static_cast<size_t>(role)];
}

// Returns the role with this name, or nullopt if there is none.
constexpr std::optional<GroupRole> GroupRoleOf(std::string_view name) {
  for (size_t i = 0; i < kGroupRoleNames.size(); ++i) {
    if (kGroupRoleNames[i] == name) return static_cast<GroupRole>(i);
  }
  return std::nullopt;
}

}  // namespace meshwright::planner
