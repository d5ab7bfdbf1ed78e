#include "planner/schedule/open_groups.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kActivationsUp = "activations_up";
constexpr std::string_view kActivationsDown = "activations_down";
constexpr std::string_view kGradientsUp = "gradients_up";
constexpr std::string_view kGradientsDown = "gradients_down";

}  // namespace

GroupNeeds NeedsOf(const ModelSpec& model) {
  return {.tied_embeddings = model.tied_embeddings, .experts = model.has_experts()};
}

std::string_view NameOf(const OpenGroup& group) {
  if (!group.lane.has_value()) return GroupRoleName(group.role);
  if (group.lane->activations) return group.lane->up ? kActivationsUp : kActivationsDown;
  return group.lane->up ? kGradientsUp : kGradientsDown;
}

bool IsLaneName(std::string_view name) {
  return name == kActivationsUp || name == kActivationsDown || name == kGradientsUp ||
         name == kGradientsDown;
}

std::vector<int32_t> RanksOf(const OpenGroup& group, const Mesh& mesh, int32_t rank) {
  if (!group.lane.has_value()) return mesh.GroupOf(group.role).RanksWith(rank);
  return {mesh.Moved(rank, Axis::kPp, group.lane->from),
          mesh.Moved(rank, Axis::kPp, group.lane->to)};
}

}  // namespace meshwright::planner
