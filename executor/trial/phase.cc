#include "executor/trial/phase.h"

#include "absl/strings/str_cat.h"

namespace meshwright::trial {

nlohmann::json ToJson(const PhaseSeconds& phases) {
  nlohmann::json json;
  ForEachPhase([&](Phase phase) { json[std::string(PhaseName(phase)) + "_s"] = phases[phase]; });
  return json;
}

PhaseSeconds PhasesFromJson(const nlohmann::json& json) {
  PhaseSeconds phases;
  ForEachPhase([&](Phase phase) { phases[phase] = json.at(std::string(PhaseName(phase)) + "_s"); });
  return phases;
}

}  // namespace meshwright::trial
