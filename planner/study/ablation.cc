#include "planner/study/ablation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/status_macros.h"
#include "planner/search/best_layout.h"

namespace meshwright::planner {
namespace {

// The largest product of tp and pp that is tried.
constexpr int64_t kMostModelParallel = 128;
// The model parallel size of the arms of tp against pp where the model needs neither.
constexpr int64_t kSomeModelParallel = 8;

// What an arm searches.
struct ArmPlan {
  std::string name;
  bool recommended = false;
  std::string where = {};
  AttentionKernel attention = AttentionKernel::kDefault;
  NormKernel norm = NormKernel::kDefault;
};

struct AblationPlan {
  std::string name;
  std::string recommendation;
  std::vector<ArmPlan> arms = {};
  // If true, the recommended arms are all up to the first that has a layout, instead of the marked
  // ones.
  bool recommends_first_that_fits = false;
};

AblationPlan MicroBatch() {
  AblationPlan plan = {.name = "micro_batch",
                       .recommendation = "Take micro-batches of one sequence"};
  for (const int size : {1, 2, 4, 8}) {
    plan.arms.push_back({.name = absl::StrCat("micro-batch ", size),
                         .recommended = size == 1,
                         .where = absl::StrCat("mb = ", size)});
  }
  return plan;
}

AblationPlan Recomputation() {
  return {.name = "recompute",
          .recommendation = "Divide the model further before recomputing anything",
          .arms = {{.name = "nothing recomputed", .recommended = true, .where = "rc = none"},
                   {.name = "attention", .where = "rc = selective"},
                   {.name = "some layers or modules", .where = "rc in (block, modules)"},
                   {.name = "everything", .where = "rc = full"}}};
}

AblationPlan Kernels(const Supports& supports) {
  AblationPlan plan = {.name = "kernels",
                       .recommendation = "Take fused kernels for attention and for norms"};
  for (const AttentionKernel attention : {supports.attention, AttentionKernel::kEager}) {
    for (const NormKernel norm : {NormKernel::kFused, NormKernel::kEager}) {
      const bool both = attention != AttentionKernel::kEager && norm == NormKernel::kFused;
      plan.arms.push_back(
          {.name = absl::StrCat(std::string(AttentionKernelName(attention)), " attention, ",
                                std::string(NormKernelName(norm)), " norms"),
           .recommended = both,
           .attention = attention,
           .norm = norm});
    }
  }
  return plan;
}

AblationPlan SequenceParallel() {
  return {.name = "sequence_parallel",
          .recommendation =
              "With tensor parallel, take sequence parallel too for models of 30 B "
              "parameters or more, and for sequences of more than 2,048 tokens",
          .arms = {{.name = "sp1", .recommended = true, .where = "tp > 1 and sp = 1"},
                   {.name = "sp0", .where = "tp > 1 and sp = 0"}}};
}

// Returns the powers of two up to `most`.
std::vector<int64_t> Products(int64_t most) {
  std::vector<int64_t> products;
  for (int64_t product = 1; product <= std::min(most, kMostModelParallel); product *= 2) {
    products.push_back(product);
  }
  return products;
}

std::string PairWhere(int64_t tp, int64_t pp) {
  return absl::StrCat("(tp = ", tp, " and pp = ", pp, ")");
}

AblationPlan ModelParallel(int64_t devices) {
  AblationPlan plan = {
      .name = "model_parallel",
      .recommendation =
          "Take the least tensor and pipeline parallel with which the model fits without recompute",
      .arms = {},
      .recommends_first_that_fits = true};
  for (const int64_t product : Products(devices)) {
    std::string pairs;
    for (int64_t tp = 1; tp <= product; tp *= 2) {
      absl::StrAppend(&pairs, pairs.empty() ? "" : " or ", PairWhere(tp, product / tp));
    }
    plan.arms.push_back({.name = absl::StrCat("tp * pp = ", product),
                         .where = absl::StrCat("rc = none and (", pairs, ")")});
  }
  return plan;
}

// Divides the model over as many ranks as the fastest layout does.
AblationPlan TensorOrPipeline(const Layout& best, int64_t devices) {
  const int64_t own = int64_t{best.tp} * best.pp;
  const int64_t product = own > 1 ? own : std::min(kSomeModelParallel, devices);
  AblationPlan plan = {
      .name = "tensor_or_pipeline",
      .recommendation = "Of the same product, take more pipeline than tensor parallel"};
  for (int64_t tp = 1; tp <= product; ++tp) {
    if (product % tp != 0) continue;
    const int64_t pp = product / tp;
    plan.arms.push_back({.name = absl::StrCat("tp ", tp, ", pp ", pp),
                         .recommended = pp > tp,
                         .where = PairWhere(tp, pp)});
  }
  return plan;
}

absl::StatusOr<Arm> Searched(const SearchRequest& request, const ArmPlan& plan) {
  ASSIGN_OR_RETURN(SearchRequest search, Narrowed(request, plan.where));
  Supports& supports = search.profile.supports;
  if (plan.attention != AttentionKernel::kDefault) supports.attention = plan.attention;
  if (plan.norm != NormKernel::kDefault) supports.norm = plan.norm;
  // The request itself was searched before, so an error concerns this value.
  constexpr std::array<std::string_view, 4> kAboutValue = {"gpus", "global_batch", "where",
                                                           "framework"};
  ASSIGN_OR_RETURN(BestLayout found, FindBest(std::move(search), kAboutValue));
  Arm arm = {.name = plan.name, .recommended = plan.recommended, .best = {}, .problem = ""};
  arm.problem = found.refused.ok() ? std::move(found.problem) : "no such layout can run";
  arm.best = found.best;
  return arm;
}

double Throughput(const Arm& arm) { return arm.best->estimate.tokens_per_s; }

std::string OneSided(const Arm* recommended, const Arm* other) {
  if (recommended == nullptr && other == nullptr) return "Nothing to say: nothing fits.";
  const Arm& there = recommended != nullptr ? *recommended : *other;
  return absl::StrCat("Nothing to compare: only ", there.name, " has a layout that fits",
                      recommended != nullptr ? ", and it is what is recommended."
                                             : ", which is not what is recommended.");
}

void Judge(double within, Ablation& ablation) {
  const Arm* recommended = ablation.Fastest(true);
  const Arm* other = ablation.Fastest(false);
  if (recommended == nullptr || other == nullptr) {
    ablation.sentence = OneSided(recommended, other);
    return;
  }
  const double gain = Throughput(*recommended) / Throughput(*other) - 1.0;
  ablation.gain = gain;
  const std::string against =
      gain >= 0.0
          ? absl::StrCat(recommended->name, " gives ", Percent(gain), " more than ", other->name)
          : absl::StrCat(other->name, " gives ", Percent(1.0 / (1.0 + gain) - 1.0), " more than ",
                         recommended->name);
  if (std::abs(gain) <= within) {
    ablation.verdict = Verdict::kTies;
    ablation.sentence = absl::StrCat("A tie: ", against, ", which the estimate can't tell apart.");
  } else if (gain > 0.0) {
    ablation.verdict = Verdict::kHolds;
    ablation.sentence = absl::StrCat("Holds: ", against, ".");
  } else {
    ablation.verdict = Verdict::kDoesNotHold;
    ablation.sentence = absl::StrCat("Does not hold: ", against, ".");
  }
}

void RecommendFirstThatFits(std::vector<Arm>& arms) {
  for (Arm& arm : arms) {
    if (!arm.best) continue;
    arm.recommended = true;
    return;
  }
}

}  // namespace

const Arm* Ablation::Fastest(bool recommended) const {
  const Arm* fastest = nullptr;
  for (const Arm& arm : arms) {
    if (!arm.best || arm.recommended != recommended) continue;
    if (fastest == nullptr || Throughput(arm) > Throughput(*fastest)) fastest = &arm;
  }
  return fastest;
}

absl::StatusOr<std::vector<Ablation>> Study(const SearchRequest& request, double within,
                                            const StudyProgress& progress) {
  SearchRequest whole = request;
  whole.top = 1;
  ASSIGN_OR_RETURN(const SearchResult result, Search(whole));
  const Layout best = !result.layouts.empty() ? result.layouts.front().layout
                      : result.nearest        ? result.nearest->layout
                                              : Layout();
  std::vector<AblationPlan> plans = {MicroBatch(),
                                     Recomputation(),
                                     Kernels(request.profile.supports),
                                     SequenceParallel(),
                                     ModelParallel(request.devices),
                                     TensorOrPipeline(best, request.devices)};
  int64_t of = 0;
  for (const AblationPlan& plan : plans) of += static_cast<int64_t>(plan.arms.size());
  int64_t done = 0;
  std::vector<Ablation> ablations;
  for (AblationPlan& plan : plans) {
    Ablation ablation = {.name = std::move(plan.name),
                         .recommendation = std::move(plan.recommendation)};
    for (const ArmPlan& arm : plan.arms) {
      if (progress) progress(done++, of);
      ASSIGN_OR_RETURN(Arm searched, Searched(request, arm));
      ablation.arms.push_back(std::move(searched));
    }
    if (plan.recommends_first_that_fits) RecommendFirstThatFits(ablation.arms);
    Judge(within, ablation);
    ablations.push_back(std::move(ablation));
  }
  return ablations;
}

}  // namespace meshwright::planner
