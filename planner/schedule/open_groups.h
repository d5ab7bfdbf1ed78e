// Lists the groups for which a rank of Meshwright's own worker opens a communicator. The worker
// opens the groups listed here, and the memory estimate counts them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/text/enum_names.h"
#include "planner/layout/layout.h"
#include "planner/layout/mesh.h"
#include "planner/schedule/messages.h"
#include "planner/schedule/placement.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// The traffic of a communicator: collectives and messages, or messages alone.
enum class Traffic : uint8_t { kCollectives, kMessages };

struct OpenGroup {
  GroupRole role = GroupRole::kWorld;
  Traffic traffic = Traffic::kCollectives;
  // The sender and the receiver, as pipeline ranks. Set only for the role kPipeline, whose groups
  // are one lane each.
  std::optional<Lane> lane = {};
};

// The properties of the model that decide which groups exist.
struct GroupNeeds {
  bool tied_embeddings = false;
  bool experts = false;
};
GroupNeeds NeedsOf(const ModelSpec& model);

using meshwright::NameOf;  // keeps the overloads for enumerators visible
// Returns the group's name in records and traces. For a lane this is activations_up,
// activations_down, gradients_up or gradients_down; for any other group it is the role's name. A
// rank may have two lanes of the same name: one for its sends and one for its receives.
std::string_view NameOf(const OpenGroup& group);

// Returns whether `name` is the name of a pipeline lane in records.
bool IsLaneName(std::string_view name);

// Returns the ranks of the group to which `rank` belongs. For a lane these are the sender and then
// the receiver.
std::vector<int32_t> RanksOf(const OpenGroup& group, const Mesh& mesh, int32_t rank);

// Calls visit(group) for every group of more than one rank that a rank of `pipeline_rank` opens.
// All ranks open their groups in the same order. Dense parameters have one group, of all replicas,
// or two groups, of shards and of copies, if HSDP keeps copies of the shards. The replicas of
// experts are a group of their own. Does not allocate.
template <typename Visit>
void ForEachOpenGroup(const Layout& layout, const GroupNeeds& needs, int32_t pipeline_rank,
                      const Visit& visit) {
  constexpr std::array kAlongAxes = {OpenGroup{GroupRole::kWorld}, OpenGroup{GroupRole::kTensor},
                                     OpenGroup{GroupRole::kContext, Traffic::kMessages}};
  constexpr std::array kReplicas = {OpenGroup{GroupRole::kReplicas}};
  constexpr std::array kOfExperts = {OpenGroup{GroupRole::kExperts},
                                     OpenGroup{GroupRole::kExpertTensor},
                                     OpenGroup{GroupRole::kExpertReplicas}};
  constexpr std::array kHybrid = {OpenGroup{GroupRole::kShards}, OpenGroup{GroupRole::kCopies}};
  const auto visit_all = [&](std::span<const OpenGroup> groups) {
    for (const OpenGroup& group : groups) {
      if (GroupSize(group.role, layout) > 1) visit(group);
    }
  };
  visit_all(kAlongAxes);
  const bool has_copies = GroupSize(GroupRole::kCopies, layout) > 1;
  visit_all(has_copies ? std::span<const OpenGroup>(kHybrid) : kReplicas);
  if (needs.experts) visit_all(kOfExperts);
  ForEachLane(layout, pipeline_rank, [&](const Lane& lane) {
    visit(OpenGroup{GroupRole::kPipeline, Traffic::kMessages, lane});
  });
  const bool at_an_end = pipeline_rank == 0 || pipeline_rank == layout.pp - 1;
  if (needs.tied_embeddings && at_an_end && !EndsShareRank(layout)) {
    visit(OpenGroup{GroupRole::kModelEnds});
  }
}

}  // namespace meshwright::planner
