#include "planner/rules/framework_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace meshwright::planner {
namespace {

std::string StateOffloadSentence(const EnumSet<StateOffload>& offloads) {
  if (offloads.empty()) {
    return "offloaded states (offload=opt) are not planned for this framework, only ones on the "
           "device";
  }
  const auto words = [](StateOffload offload) {
    return std::string(offload == StateOffload::kOptimizer    ? "opt"
                       : offload == StateOffload::kParameters ? "opt+param"
                                                              : "opt+param+grad");
  };
  return absl::StrCat("the framework moves states to the host with offload=",
                      NamesOf(offloads, words, " and "), " alone");
}

}  // namespace

std::string DescribeFramework(const Operands& operands) {
  const int64_t bound = operands.divisor;
  switch (static_cast<FrameworkPart>(operands.value)) {
    case FrameworkPart::kZeroStage:
      return absl::StrFormat("the framework has ZeRO stages up to %d", bound);
    case FrameworkPart::kZeroMinimum:
      return absl::StrFormat("the framework shards with ZeRO stage %d or more", bound);
    case FrameworkPart::kSequenceNeeded:
      return "the framework's tensor parallel is always sequence parallel (sp1)";
    case FrameworkPart::kBlock:
      return "the framework recomputes all layers alike (rc=none, selective or full)";
    case FrameworkPart::kModules: {
      const auto modules = RecomputeModules::FromBits(bound);
      if (modules.empty()) {
        return "recompute of named modules is not planned for this framework, only rc=none, "
               "selective, full or block:N";
      }
      return absl::StrCat("the framework recomputes no other modules than ",
                          NamesOf(modules, RecomputeModuleName));
    }
    case FrameworkPart::kScores:
      return absl::StrCat(
          "the framework's attention keeps no scores, which rc=core_attn would free; it "
          "recomputes ",
          NamesOf(RecomputeModules::FromBits(bound), RecomputeModuleName));
    case FrameworkPart::kZeroPipeline:
      return "the framework does not combine ZeRO 2 and 3 with pipeline parallel, only "
             "ZeRO 0 and 1";
    case FrameworkPart::kPipeline:
      return "the framework does not have pipeline parallel, only pp1";
    case FrameworkPart::kSequence:
      return "the framework does not have sequence parallel, only sp0";
    case FrameworkPart::kTensor:
      return "the framework does not have tensor parallel, only tp1";
    case FrameworkPart::kContext:
      return "the framework does not have context parallel, only cp1";
    case FrameworkPart::kExpertParallel:
      return "the framework does not have expert parallel, only ep1";
    case FrameworkPart::kExpertTensor:
      return "the framework does not divide single experts, only etp1";
    case FrameworkPart::kHsdp:
      return "HSDP (hs=) is not planned for this framework, only ZeRO over all dp * cp ranks";
    case FrameworkPart::kStages:
      return "the framework spreads layers over the stages by a rule of its own (no stages=)";
    case FrameworkPart::kFp8:
      return absl::StrCat("products in ", std::string(PrecisionName(static_cast<Precision>(bound))),
                          " are not planned for this framework, only bf16, fp32 and fp64");
    case FrameworkPart::kExperts:
      return "models with experts are not planned for this framework, only dense ones";
    case FrameworkPart::kOptimizer:
      return "Muon is not planned for this framework, only AdamW";
    case FrameworkPart::kRecompute:
      return "the framework does not have recompute, only rc=none";
    case FrameworkPart::kActivationOffload:
      return "offloaded activations (offload=act:N) are not planned for this framework, only ones "
             "on the device";
    case FrameworkPart::kOffloadPipeline:
      return absl::StrFormat(
          "the framework does not combine offload=act:N with pipeline parallel: pp is %d and must "
          "be 1",
          bound);
    case FrameworkPart::kOffloadRecompute:
      return "the framework does not combine offload=act:N with recompute, only with rc=none";
    case FrameworkPart::kZero3Tensor:
      return absl::StrFormat(
          "the framework does not combine ZeRO 3 with tensor parallel: tp is %d and must be 1",
          bound);
    case FrameworkPart::kStateOffload:
      return StateOffloadSentence(EnumSet<StateOffload>::FromBits(bound));
    case FrameworkPart::kSchedule:
      break;
  }
  return absl::StrCat("the framework does not have this schedule; it has ",
                      NamesOf(EnumSet<ScheduleKind>::FromBits(bound), ScheduleName));
}

}  // namespace meshwright::planner
