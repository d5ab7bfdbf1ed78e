// ParameterCounts says how many parameters a model has, as answers and lists of presets show them.
#pragma once

#include <cstdint>

#include "planner/codec/fields.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/trained_parts.h"

namespace meshwright::planner {

struct ParameterCounts {
  int64_t parameters = 0;         // of the language model and its towers; tied ones count once
  int64_t active_parameters = 0;  // of `parameters`, without the experts that a token skips
  int64_t tower_parameters = 0;   // of `parameters`, those of towers
  int64_t mtp_parameters = 0;     // beside `parameters`: of the layers that predict further tokens
  // Of `parameters` and of adapters, those that train; 0 where all of `parameters` do.
  int64_t trainable_parameters = 0;

  friend bool operator==(const ParameterCounts&, const ParameterCounts&) = default;
};

template <ConstOr<ParameterCounts> Counts, typename Visitor>
void VisitFields(Counts& counts, Visitor& visit) {
  visit("parameters", counts.parameters);
  visit("active_parameters", counts.active_parameters);
  visit("tower_parameters", counts.tower_parameters);
  visit("mtp_parameters", counts.mtp_parameters);
  visit(OnlyIf(counts.trainable_parameters > 0, "trainable_parameters"),
        counts.trainable_parameters);
}

ParameterCounts ParameterCountsOf(const ModelSpec& model, const TrainedParts& parts = {});

}  // namespace meshwright::planner
