// What the runner knows of one rank: the events it sent and how its process ended.
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

// How a rank failed. An out-of-memory explains the other ranks' failures, and a lost peer is
// explained by any other failure. A rank that is lost with its host may have been so for what
// another rank did.
enum class FailureKind : uint8_t { kOutOfMemory, kOwn, kLost, kCommunication };

struct RankFailure {
  FailureKind kind = FailureKind::kOwn;
  std::string message;  // without naming the rank
  Fault fault = Fault::kLayout;
};

struct RankRecord {
  int32_t rank = 0;
  int32_t pipeline_rank = 0;
  std::string host;
  std::string version;
  int32_t begun_steps = 0;
  std::map<int32_t, double> step_times_s;   // finished steps
  std::map<int32_t, StepProfile> profiles;  // of finished steps
  std::map<int32_t, double> losses;         // on the rank that knows them
  // Of finished steps: the rank's part of the squared norm of all gradients. None of a slice.
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
  std::optional<RankTrace> trace;  // of the last step, where the plan wants it
  std::optional<OomDetail> oom;
  std::optional<RankFailure> failure;
  // Trouble after it was done, which does not touch what it measured: without naming the rank.
  std::vector<std::string> after_done;
  std::optional<int32_t> left_pid;  // of a process that could not be ended
  std::string output_tail;          // valid UTF-8

  int32_t finished_steps() const { return static_cast<int32_t>(step_times_s.size()); }
};

// Takes in one line of events (executor/trial/rank_events.h). A line that is not one becomes the
// rank's failure, or trouble after it was done.
void ApplyEvent(const std::string& line, RankRecord& record);

// Takes in the end of the process, as waitpid() tells it. An end that the events don't explain
// becomes the rank's failure, or trouble after it was done.
void ApplyExit(int wait_status, RankRecord& record);

// Takes in that nothing more will be heard of the process: "can't go on: agent b was lost".
void ApplyLoss(std::string message, Fault fault, RankRecord& record);

// Puts all moments that the rank told `by_s` later: on another host's clock.
void ShiftTimes(double by_s, RankRecord& record);

}  // namespace meshwright::trial
