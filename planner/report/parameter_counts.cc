#include "planner/report/parameter_counts.h"

#include "planner/block/parameters.h"
#include "planner/block/tower_parameters.h"

namespace meshwright::planner {

ParameterCounts ParameterCountsOf(const ModelSpec& model, const TrainedParts& parts) {
  return {.parameters = Parameters(model),
          .active_parameters = ActiveParameters(model),
          .tower_parameters = TowerParameters(model),
          .mtp_parameters = MtpParameters(model),
          .trainable_parameters = parts.all() ? 0 : TrainableParameters(model, parts)};
}

}  // namespace meshwright::planner
