#include "planner/search/objective.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner {

Merit MeritOf(Objective objective) {
  switch (objective) {
    case Objective::kEnergy:
      return Merit::kEnergy;
    case Objective::kMemory:
      return Merit::kMemory;
    case Objective::kMfu:
    case Objective::kTokensPerS:
    case Objective::kCost:
    case Objective::kTimeToLoss:
      break;
  }
  return Merit::kSpeed;
}

Scores ScoresOf(const Estimate& estimate) {
  Scores scores;
  scores[Merit::kSpeed] = estimate.mfu;
  scores[Merit::kEnergy] = estimate.tokens_per_joule;
  scores[Merit::kMemory] = -static_cast<double>(estimate.memory.total_bytes());
  return scores;
}

double ScoreOf(Objective objective, const Estimate& estimate) {
  switch (objective) {
    case Objective::kTokensPerS:
    case Objective::kTimeToLoss:
      return estimate.tokens_per_s;
    case Objective::kCost:
      return estimate.tokens_per_s_per_gpu;
    case Objective::kMfu:
    case Objective::kEnergy:
    case Objective::kMemory:
      break;
  }
  return ScoresOf(estimate)[MeritOf(objective)];
}

absl::StatusOr<Objective> ParseObjective(std::string_view field, std::string_view text) {
  return meshwright::KindOf(kObjectiveNames, field, text);
}

absl::StatusOr<std::vector<Merit>> ParseMerits(std::string_view field, std::string_view text) {
  std::vector<Merit> merits;
  const absl::string_view list = AbslView(text);
  for (const absl::string_view name : absl::StrSplit(list, ',')) {
    const std::string trimmed(absl::StripAsciiWhitespace(name));
    ASSIGN_OR_RETURN(const Objective objective, ParseObjective(field, trimmed));
    const Merit merit = MeritOf(objective);
    if (std::find(merits.begin(), merits.end(), merit) != merits.end()) {
      return FieldError(field, text,
                        absl::StrCat(trimmed,
                                     " ranks layouts in the same order as a measure before it; "
                                     "must be two or three of mfu, energy and memory"));
    }
    merits.push_back(merit);
  }
  if (merits.size() >= 2) return merits;
  return FieldError(field, text, "must be two or three of mfu, energy and memory");
}

absl::Status CheckPower(std::string_view field, const ClusterSpec& cluster) {
  if (cluster.power.compute_w > 0.0 && cluster.power.exposed_w > 0.0) return absl::OkStatus();
  return FieldError(field, "energy",
                    absl::StrCat("needs the power that a device draws: the cluster ", cluster.name,
                                 " has no `power`"));
}

}  // namespace meshwright::planner
