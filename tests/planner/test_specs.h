// MakeContext() and MakeRequest() make small specs for planner tests.
#pragma once

#include "planner/catalog/catalog.h"
#include "planner/profile/context.h"
#include "planner/search/search.h"

namespace meshwright::planner {

// Owns the objects to which an EstimateContext refers.
struct TestContext {
  ModelSpec model;
  ClusterSpec cluster;
  TrainingSpec training;
  FrameworkProfile profile;

  EstimateContext get() const { return {model, cluster, training, profile}; }
};

inline TestContext MakeContext(const char* model, const char* cluster, int64_t seq_len,
                               int64_t global_batch, const char* profile = "megatron") {
  return {FindModel(model).value(),
          FindCluster(cluster, /*host_cores=*/2).value(),
          {.seq_len = seq_len, .global_batch = global_batch},
          FindProfile(profile).value()};
}

inline SearchRequest MakeRequest(const TestContext& context, int64_t devices) {
  return {.model = context.model,
          .cluster = context.cluster,
          .training = context.training,
          .profile = context.profile,
          .devices = devices};
}

inline Layout MakeLayout(const char* text) { return ParseLayout(text).value(); }

}  // namespace meshwright::planner
