#include "planner/interchange/megatron_experts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/interchange/layer_list.h"
#include "planner/profile/part_refusal.h"

namespace meshwright::planner {
namespace {

// Returns the key that says that the picked experts' weights are not made to add up to 1; null if
// they are.
const SetAsideKey* KeepsSums(AsideKeys& aside) {
  const SetAsideKey* key = aside.Take("norm_topk_prob");
  return key != nullptr ? key : aside.Take("moe_renormalize");
}

absl::Status AddRouter(const Experts& experts, AsideKeys& aside, MegatronScript& script) {
  const bool sigmoid = experts.score == RouterScore::kSigmoid;
  const SetAsideKey* keeps_sums = KeepsSums(aside);
  if (keeps_sums != nullptr && sigmoid && experts.top_k > 1) {
    return FieldError(keeps_sums->key, keeps_sums->value,
                      "Megatron-LM makes sigmoid scores add up to 1; must be true");
  }
  std::string router =
      absl::StrFormat("--moe-router-topk %d --moe-router-score-function %s --moe-router-dtype fp32",
                      experts.top_k, sigmoid ? "sigmoid" : "softmax");
  // A softmax over one picked expert would be 1 whatever the scores.
  if (!sigmoid && (experts.top_k == 1 || keeps_sums != nullptr)) {
    absl::StrAppend(&router, " --moe-router-pre-softmax");
  }
  if (experts.selection_bias) absl::StrAppend(&router, " --moe-router-enable-expert-bias");
  if (experts.bias_update_rate != Experts().bias_update_rate) {
    absl::StrAppendFormat(&router, " --moe-router-bias-update-rate %g", experts.bias_update_rate);
  }
  script.flags.push_back(router);
  if (experts.groups == 1) return absl::OkStatus();
  script.flags.push_back(absl::StrFormat("--moe-router-num-groups %d --moe-router-group-topk %d",
                                         experts.groups, experts.top_groups));
  const int64_t best = std::max<int64_t>(1, experts.top_k / experts.top_groups);
  if (best != experts.group_best()) {
    script.comments.push_back(absl::StrFormat(
        "topk_group = %d: Megatron-LM ranks a group by the sum of its %d best scores, the model by "
        "that of %d.",
        experts.top_groups, best, experts.group_best()));
  }
  return absl::OkStatus();
}

void AddLosses(const Experts& experts, std::vector<std::string>& flags) {
  if (experts.balance_loss > 0.0) {
    flags.push_back(absl::StrFormat("--moe-aux-loss-coeff %g", experts.balance_loss));
  }
  if (experts.z_loss > 0.0) {
    flags.push_back(absl::StrFormat("--moe-z-loss-coeff %g", experts.z_loss));
  }
  if (experts.capacity_factor > 0.0) {
    flags.push_back(
        absl::StrFormat("--moe-expert-capacity-factor %g --moe-pad-expert-input-to-capacity",
                        experts.capacity_factor));
  }
}

}  // namespace

absl::Status AddExperts(const ModelSpec& model, const Ffn& ffn, bool is_hybrid, AsideKeys& aside,
                        MegatronScript& script) {
  const Experts& experts = ffn.experts;
  if (experts.latent_norms) {
    return RefuseParts(model, PartNames({ModelPart::kExpertLatent}), {},
                       "Megatron-LM has no norms of a latent for",
                       "estimate and recommend plan it");
  }
  auto& flags = script.flags;
  flags.push_back(absl::StrFormat("--num-experts %d --moe-ffn-hidden-size %d --moe-grouped-gemm",
                                  experts.count, ffn.hidden));
  if (experts.latent > 0) flags.push_back(absl::StrCat("--moe-latent-size ", experts.latent));
  const LayerFlags has_experts = FlagsOf(
      model, /*is_hybrid=*/false, [](const LayerGroup& group) { return group.ffn.has_experts(); });
  if (!is_hybrid && !IsTrueForAll(has_experts)) {  // a hybrid's pattern says it
    flags.push_back("--moe-layer-freq '" + PythonList(has_experts) + "'");
  }
  RETURN_IF_ERROR(AddRouter(experts, aside, script));
  flags.push_back("--moe-token-dispatcher-type alltoall --moe-permute-fusion");
  if (experts.shared_hidden > 0) {
    flags.push_back(
        absl::StrFormat("--moe-shared-expert-intermediate-size %d", experts.shared_hidden));
    if (experts.shared_gate) flags.push_back("--moe-shared-expert-gate");
  }
  AddLosses(experts, flags);
  script.comments.push_back("--moe-router-load-balancing-type is yours to pass, too.");
  return absl::OkStatus();
}

}  // namespace meshwright::planner
