// ParameterCounts holds a model's numbers of parameters, as answers and lists of presets show them.
#pragma once

#include <cstdint>

#include "planner/codec/fields.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/trained_parts.h"

namespace meshwright::planner {

struct ParameterCounts {
  int64_t parameters = 0;         // language model and towers; tied parameters count once
  int64_t active_parameters = 0;  // `parameters` without those of the experts that a token skips
  int64_t tower_parameters = 0;   // the part of `parameters` in towers
  int64_t mtp_parameters = 0;     // multi-token-prediction layers; not in `parameters`
  // The parameters that train, adapters included; 0 if all of `parameters` train.
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
