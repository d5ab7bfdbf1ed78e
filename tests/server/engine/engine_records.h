// These functions make sweeps and agents for tests of the engine's decisions.
#pragma once

#include <string>
#include <vector>

#include "server/engine/active_sweep.h"
#include "server/engine/connected_agents.h"
#include "tests/db/store_records.h"

namespace meshwright::server {

inline MonotonicTime Second(int64_t seconds) { return {absl::Seconds(seconds)}; }

inline std::vector<db::TrialSummary> SomeSummaries(int32_t count) {
  std::vector<db::TrialSummary> summaries;
  for (int32_t i = 1; i <= count; ++i) {
    db::TrialSummary& summary = summaries.emplace_back();
    summary.number = i;
    summary.layout = "layout" + std::to_string(i);
  }
  return summaries;
}

// Returns a candidate that waits to be chosen.
inline db::TrialSummary OpenSummary(int32_t number, const std::string& layout,
                                    double predicted_step_s) {
  db::TrialSummary summary;
  summary.number = number;
  summary.layout = layout;
  summary.has_begun = false;
  summary.predicted_step_s = predicted_step_s;
  summary.oom_probability = 0.01;
  return summary;
}

// Returns the first attempt at the first trial.
inline db::AttemptSummary AttemptOf(const std::string& agent, int32_t ranks,
                                    const std::string& outcome = "") {
  const bool failed = outcome == db::kLostOutcome || outcome == db::kBrokenOutcome;
  return {.trial = 1,
          .number = 1,
          .outcome = outcome,
          .members = {{.agent = agent, .host = "host-" + agent, .ranks = ranks, .failed = failed}}};
}

inline db::SweepRecord SweepOf(int64_t id, int64_t devices) {
  db::SweepRecord sweep = db::SomeSweep("s" + std::to_string(id));
  sweep.id = id;
  sweep.devices = devices;
  return sweep;
}

inline AgentInfo CpuAgent(const std::string& name, int32_t devices) {
  return {.name = name,
          .instance = "i-" + name,
          .host = "host-" + name,
          .device_kind = "cpu",
          .devices = devices,
          .version = "1",
          .connect_time = db::At(0)};
}

// Returns an agent that other agents can reach.
inline AgentInfo GangAgent(const std::string& name, int32_t devices) {
  AgentInfo info = CpuAgent(name, devices);
  info.address = "address-" + name;
  return info;
}

}  // namespace meshwright::server
