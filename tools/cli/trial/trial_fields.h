// LocalTrialText declares the fields that `meshwright trial` prints (planner/codec/fields.h): the
// result, the layout, the seed, the prediction and notes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/trial/result_fields.h"
#include "planner/codec/fields.h"
#include "planner/codec/json_codec.h"
#include "planner/report/estimate_fields.h"

namespace meshwright::cli {

struct LocalTrialText {
  std::string layout;
  planner::WrittenJson<trial::TrialResult> result;
  int64_t seed = 0;
  planner::RankedLayout predicted;
  std::string peak_source;
  std::vector<std::string> notes;
};

template <typename Visitor>
void VisitFields(const LocalTrialText& text, Visitor& visit) {
  visit({"layout", "Text form of the layout, with the kernels that ran"}, text.layout);
  visit(planner::Inside("result"), text.result);
  visit({"seed", "Random seed of weights and tokens"}, text.seed);
  visit({"predicted", "What the planner predicts"}, text.predicted);
  visit({"peak_source", "Where the peak that peak_flops states comes from"}, text.peak_source);
  visit({"notes", "What the reader should know about the figures"}, text.notes);
}

}  // namespace meshwright::cli
