#include "planner/rules/recompute_rules.h"

#include "absl/strings/str_cat.h"

namespace meshwright::planner {
namespace {

std::string Names(int64_t bits) {
  return NamesOf(RecomputeModules::FromBits(bits), RecomputeModuleName);
}

}  // namespace

RecomputeModules RecomputeModulesOf(const ModelSpec& model) {
  RecomputeModules modules;
  for (const LayerGroup& group : model.groups) {
    if (group.attention.exists()) modules.Add(RecomputeModule::kCoreAttn);
    const bool latent = group.attention.is_latent();
    const bool experts = group.ffn.has_experts();
    if (latent) modules.Add(RecomputeModule::kMlaUpProj);
    if (latent || experts) modules.Add(RecomputeModule::kLayerNorm);
    if (!experts) {
      if (group.ffn.exists()) modules.Add(RecomputeModule::kMlp);
      continue;
    }
    modules.Add(RecomputeModule::kMoe);
    // ReLU keeps only its product, and no tensor from which the product could be recomputed.
    if (group.ffn.kind != FfnKind::kRelu) modules.Add(RecomputeModule::kMoeAct);
    if (group.ffn.dense_hidden() > 0) modules.Add(RecomputeModule::kSharedExperts);
  }
  return modules;
}

std::string DescribeMissingModules(const Operands& operands) {
  return absl::StrCat("rc=", Names(operands.value), " frees nothing in this model; it has ",
                      Names(operands.divisor));
}

std::string DescribeTwice(const Operands& operands) {
  return absl::StrCat("rc=moe already recomputes ", Names(operands.value),
                      "; must be either moe or a part of it");
}

std::string DescribeDelayedScales(const Operands& operands) {
  return absl::StrCat("fp8-delayed cannot be combined with rc=", Names(operands.value),
                      ", whose recomputed forward would use other scales; must be fp8-current, "
                      "fp8-blockwise, mxfp8 or bf16");
}

}  // namespace meshwright::planner
