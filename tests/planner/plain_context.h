// PlainContext() returns a context without fitted constants: a model's published shape on
// data-sheet devices with plain links, under a framework without overheads.
#pragma once

#include "tests/planner/data_sheet_clusters.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {

inline TestContext PlainContext(const char* model, int64_t seq_len, int64_t global_batch) {
  FrameworkProfile profile;
  profile.name = "plain";
  return {.model = FindModel(model).value(),
          .cluster = PlainA100s(),
          .training = {.seq_len = seq_len, .global_batch = global_batch},
          .profile = profile};
}

}  // namespace meshwright::planner
