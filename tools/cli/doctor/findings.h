// Finding is one result of `meshwright doctor`: the state of one thing that a trial needs.
//
// A finding says what was found and, if there is a problem, what to do about it. The functions here
// judge facts that the caller gathered, so that tests can supply other facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "executor/host/host_memory.h"
#include "executor/trial/device_list.h"
#include "executor/wire/device_set.h"

namespace meshwright::cli {

enum class Verdict {
  kOk,
  kWarning,  // works, but not as well as it could
  kProblem   // trials, or the thing that the check names, won't work
};

// Returns "ok", "warning" or "problem".
std::string VerdictName(Verdict verdict);

struct Finding {
  std::string check;  // what was checked, one word
  Verdict verdict = Verdict::kOk;
  std::string found;
  std::string advice;  // empty if nothing is to be done
};

// Judges the worker at `path`. `version` is the status of a run of the worker that prints its
// version.
Finding JudgeWorker(const std::string& path, const absl::Status& version);

// Judges the CUDA devices that are visible to the worker. If the user asked for GPUs (`wanted`), it
// is a problem if there are none.
Finding JudgeDevices(const absl::StatusOr<trial::DeviceList>& devices, bool wanted);

// Judges the memory that processes may use, for `ranks` concurrent ranks.
Finding JudgeMemory(const absl::StatusOr<host::MemoryRoom>& room, int32_t ranks);

// Judges the number of files that a process may have open. A rank needs some for every other rank,
// and a server for every agent.
Finding JudgeOpenFiles(int64_t limit);

// The kernel's report on its clock: whether a time service synchronises the clock, and its maximum
// error. The clock matters since a sweep's events show times of different machines side by side.
struct ClockState {
  bool synchronised = false;
  absl::Duration most_error = absl::ZeroDuration();
};
Finding JudgeClock(const std::optional<ClockState>& clock);

// Judges how many bytes are free in the folder where an agent keeps results that no server has yet.
Finding JudgeStateDir(const std::string& folder, const absl::StatusOr<int64_t>& free_bytes);

// Judges `ran`, the status of a benchmark of one second on the devices. The benchmark runs matrix
// products, copies and, with more than one rank, collectives by NCCL or Gloo.
Finding JudgeTrial(const wire::DeviceSet& devices, const absl::Status& ran);

// A server's answer. JudgeServer() reports clocks that are far apart: leases do not depend on the
// wall clock, but the times that people read do.
struct ServerAnswer {
  std::string version;  // empty if the server does not tell
  std::optional<absl::Time> time;
  int64_t agents = 0;
};
Finding JudgeServer(const std::string& address, const absl::StatusOr<ServerAnswer>& answer,
                    const std::string& own_version, absl::Time now);

// What is known of a standby of the server, or of the server as a standby.
struct StandbyAnswer {
  std::string name;     // of the standby
  std::string follows;  // the server's address
  bool connected = false;
  bool complete = false;  // whether its copy was ever complete
  int64_t transactions = 0;
  int64_t behind_bytes = 0;
  double behind_s = 0.0;
};
// Judges how far the standby is behind.
Finding JudgeStandby(const StandbyAnswer& standby);

// Returns the worst verdict; kOk if there are no findings.
Verdict WorstOf(const std::vector<Finding>& findings);

}  // namespace meshwright::cli
