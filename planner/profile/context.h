// EstimateContext is everything that an estimate depends on in addition to the layout.
#pragma once

#include "planner/correction/correction.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/layer_shapes.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

struct EstimateContext {
  const ModelSpec& model;
  const ClusterSpec& cluster;
  const TrainingSpec& training;
  const FrameworkProfile& profile;
  // If true, each rank has its host to itself, as in a slice trial (executor/trial/slice_runner.h).
  bool ranks_run_alone = false;
  LayerShapes shapes = LayerShapes(model, training.options.train);
  // Corrects peaks and step times by the user's own measured runs; null: there are no such runs.
  const Correction* correction = nullptr;
};

}  // namespace meshwright::planner
