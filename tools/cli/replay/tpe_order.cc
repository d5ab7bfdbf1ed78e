#include "tools/cli/replay/tpe_order.h"

#include <cstddef>
#include <utility>

#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/data/embedded.h"

namespace meshwright::cli {

// The text of tools/cli/replay/tpe_order.py.
absl::Span<const planner::EmbeddedFile> EmbeddedTpeOrder();

namespace {

using nlohmann::json;

std::string TextOf(const planner::OrderProblem& problem) {
  json text = {{"layouts", problem.layouts}, {"step_s", json::array()}, {"good", problem.good}};
  for (const planner::OptionalNumber& step_s : problem.step_s) {
    text["step_s"].push_back(step_s ? json(*step_s) : json());
  }
  return text.dump();
}

planner::OptionalNumber NumberIn(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_number()) return std::nullopt;
  return object[key].get<double>();
}

}  // namespace

absl::StatusOr<std::string> AddTpeOrder(absl::Span<planner::SweepReplay> sweeps,
                                        const RunForOutput& run) {
  std::vector<std::string> arguments = {"/usr/bin/env", "python3", "-c",
                                        std::string(EmbeddedTpeOrder().front().text)};
  for (const planner::SweepReplay& sweep : sweeps) arguments.push_back(TextOf(sweep.problem));
  ASSIGN_OR_RETURN(const std::string output, run(arguments));
  ASSIGN_OR_RETURN(const json answer, ParseJson("tpe", output));
  if (!answer.is_object() || !answer.contains("version") || !answer["version"].is_string() ||
      !answer.contains("problems") || answer["problems"].size() != sweeps.size()) {
    return absl::InternalError("what python3 printed is no answer about these sweeps");
  }
  for (size_t i = 0; i < sweeps.size(); ++i) {
    const json& problem = answer["problems"][i];
    sweeps[i].tpe_order = {.trials_to_within_1_point = NumberIn(problem, "trials"),
                           .oom_trials = NumberIn(problem, "failed")};
  }
  return answer["version"].get<std::string>();
}

}  // namespace meshwright::cli
