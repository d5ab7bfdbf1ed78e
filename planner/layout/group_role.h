// Why ranks of a run form a group: planner/layout/mesh.h says which ranks that are.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace meshwright::planner {

// Why ranks form a group.
enum class GroupRole : uint8_t {
  kWorld,      // all ranks of the run
  kTensor,     // the ranks that share every layer's matrices
  kContext,    // the ranks that share a sequence
  kReplicas,   // the holders of the same dense parameters: they see different tokens, sum gradients
               // and, with ZeRO, divide states
  kData,       // the replicas that see other sequences (kReplicas without those of one sequence)
  kShards,     // the replicas that divide states among each other: under HSDP a part of them
  kCopies,     // the replicas with the same shard: one of each group of kShards
  kPipeline,   // the ranks that a micro-batch passes
  kModelEnds,  // the holders of the first and the last stage, which have copies of tied embeddings
  kExperts,    // the ranks that hold different experts and send each other tokens
  kExpertTensor,   // the ranks that hold a part of the same experts each
  kExpertReplicas  // the holders of the same parts of experts, as kReplicas of other parameters
};

// The names that communicators, records and traces use, by GroupRole.
inline constexpr std::array<std::string_view, 12> kGroupRoleNames = {
    "world",           "tp", "cp",  "replicas",       "dp", "shards", "copies", "pp",
    "tied_embeddings", "ep", "etp", "expert_replicas"};

constexpr std::string_view GroupRoleName(GroupRole role) {
  return kGroupRoleNames[static_cast<size_t>(role)];
}

// Returns the role of that name, or nullopt.
constexpr std::optional<GroupRole> GroupRoleOf(std::string_view name) {
  for (size_t i = 0; i < kGroupRoleNames.size(); ++i) {
    if (kGroupRoleNames[i] == name) return static_cast<GroupRole>(i);
  }
  return std::nullopt;
}

}  // namespace meshwright::planner
