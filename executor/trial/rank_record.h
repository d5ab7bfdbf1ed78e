// RankRecord holds what the runner knows about one rank from the rank's events and the end of its
// process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "executor/trial/memory_peaks.h"
#include "executor/trial/step_profile.h"
#include "executor/trial/step_trace.h"
#include "executor/trial/trial.h"

namespace meshwright::trial {

// How a rank failed. A failure of an earlier kind explains other ranks' failures of later kinds.
// kOutOfMemory therefore explains all others, and every failure explains a peer's kCommunication. A
// rank that was lost with its host (kLost) may have been lost because another rank failed.
enum class FailureKind : uint8_t { kOutOfMemory, kOwn, kLost, kCommunication };

struct RankFailure {
  FailureKind kind = FailureKind::kOwn;
  std::string message;  // without the rank's name
  Fault fault = Fault::kLayout;
};

struct RankRecord {
  int32_t rank = 0;
  int32_t pipeline_rank = 0;
  std::string host;
  std::string version;
  int32_t begun_steps = 0;
  std::map<int32_t, double> step_times_s;   // by finished step
  std::map<int32_t, StepProfile> profiles;  // by finished step
  std::map<int32_t, double> losses;         // set on the rank that computes them
  // By finished step: the rank's contribution to the squared norm of all gradients. Empty in a
  // slice trial.
  std::map<int32_t, double> gradient_square_sums;
  bool done = false;
  StopReason stop_reason = StopReason::kNone;
  int64_t peak_bytes = 0;
  std::optional<DeviceMemoryUse> device_memory;
  int64_t peak_host_bytes = 0;
  int32_t peak_in_flight = 0;
  double measured_peak_flops = 0.0;
  double expert_load = 0.0;
  std::vector<int64_t> expert_tokens;
  std::optional<int64_t> estimated_routed_bytes;
  std::optional<RankTrace> trace;  // of the last step, if the plan asks for one
  std::optional<OomDetail> oom;
  std::optional<RankFailure> failure;
  // Problems after the rank was done, without the rank's name. They do not affect what the rank
  // measured.
  std::vector<std::string> after_done;
  std::optional<int32_t> left_pid;  // pid of a process that could not be ended
  std::string output_tail;          // valid UTF-8

  int32_t finished_steps() const { return static_cast<int32_t>(step_times_s.size()); }
};

// Applies one event (executor/trial/rank_events.h), given as a line. A malformed line becomes the
// rank's failure, or an entry of after_done if the rank is done.
void ApplyEvent(const std::string& line, RankRecord& record);

// Applies the end of the process, given its status from waitpid(). An end that the events don't
// explain becomes the rank's failure, or an entry of after_done if the rank is done.
void ApplyExit(int wait_status, RankRecord& record);

// Records that the process can't be observed any more; `message` is for example "can't go on: agent
// b was lost".
void ApplyLoss(std::string message, Fault fault, RankRecord& record);

// Adds `by_s` to all times that the rank reported, to bring them onto another host's clock.
void ShiftTimes(double by_s, RankRecord& record);

}  // namespace meshwright::trial
