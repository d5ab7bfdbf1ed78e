// What `meshwright doctor` finds on a machine, one finding for each thing that a trial needs.
//
// A finding says what is there; where that is not as it should be, also what to do about it. The
// functions here judge facts that the caller gathered, so that tests can bring their own.
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
  kWarning,  // works, and not as well as it could
  kProblem   // trials, or whatever the check names, won't work
};

// "ok", "warning", "problem".
std::string VerdictName(Verdict verdict);

struct Finding {
  std::string check;  // what was looked at, one word
  Verdict verdict = Verdict::kOk;
  std::string found;
  std::string advice;  // empty where nothing is to be done
};

// The worker beside the program, by what asking it for its version gave.
Finding JudgeWorker(const std::string& path, const absl::Status& version);

// The CUDA devices that the worker is shown. `wanted` where the caller asked for GPUs: then none is
// a problem.
Finding JudgeDevices(const absl::StatusOr<trial::DeviceList>& devices, bool wanted);

// Memory that processes may take, for `ranks` ranks at once.
Finding JudgeMemory(const absl::StatusOr<host::MemoryRoom>& room, int32_t ranks);

// Files that a process may open at once: a rank needs some for every other, a server for every
// agent.
Finding JudgeOpenFiles(int64_t limit);

// What the kernel says of its clock: whether a time service keeps it right, and by how much it may
// be off. Times of different machines stand side by side in a sweep's events.
struct ClockState {
  bool synchronised = false;
  absl::Duration most_error = absl::ZeroDuration();
};
Finding JudgeClock(const std::optional<ClockState>& clock);

// The folder where an agent keeps results that no server has yet, by how many bytes are free there.
Finding JudgeStateDir(const std::string& folder, const absl::StatusOr<int64_t>& free_bytes);

// A benchmark of a second on the devices: products, copies and, with more than one rank, the
// library of their collectives (NCCL or Gloo).
Finding JudgeTrial(const wire::DeviceSet& devices, const absl::Status& ran);

// What a server answered. Leases do not go by the wall clock, but what people read does: clocks
// that are far apart are told.
struct ServerAnswer {
  std::string version;  // empty: a server that does not tell
  std::optional<absl::Time> time;
  int64_t agents = 0;
};
Finding JudgeServer(const std::string& address, const absl::StatusOr<ServerAnswer>& answer,
                    const std::string& own_version, absl::Time now);

// The worst of them; kOk without any.
Verdict WorstOf(const std::vector<Finding>& findings);

}  // namespace meshwright::cli
