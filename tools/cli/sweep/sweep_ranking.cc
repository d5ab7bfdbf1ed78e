#include "tools/cli/sweep/sweep_ranking.h"

namespace meshwright::cli {

bool NotToldApart(const StepSpread& a, const StepSpread& b) {
  return a.low_s() <= b.high_s() && b.low_s() <= a.high_s();
}

std::vector<StepRank> RankSteps(const std::vector<StepSpread>& steps) {
  std::vector<StepRank> ranks(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    for (size_t j = 0; j < steps.size(); ++j) {
      if (i == j) continue;
      if (steps[j].high_s() < steps[i].low_s()) ++ranks[i].rank;
      if (NotToldApart(steps[i], steps[j])) ranks[i].shared = true;
    }
  }
  return ranks;
}

}  // namespace meshwright::cli
