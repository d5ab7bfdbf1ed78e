// Computes the answer of `meshwright study`: how much published recommendations about layouts gain
// for one model and cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "planner/report/rests_on.h"
#include "planner/study/ablation.h"

namespace meshwright::planner {

struct StudyAnswer {
  std::vector<Ablation> ablations;
  double within = 0.0;  // a difference of throughput up to this share is a tie
  std::vector<std::string> notes;
  int64_t parameters = 0;  // parameters of the model
  RestsOn rests_on;
  std::string sentence;  // states the number of recommendations that hold

  bool any_fits() const;
};

absl::StatusOr<StudyAnswer> AnswerStudy(const PlanQuery& query, int32_t host_cores,
                                        SearchRun run = {}, const StudyProgress& progress = {});

}  // namespace meshwright::planner
