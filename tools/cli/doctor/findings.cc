#include "tools/cli/doctor/findings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

constexpr double kFarBehindS = 10.0;

// A worker's memory before it holds a tensor: Torch's libraries and its threads.
constexpr int64_t kBytesOfRank = int64_t{512} << 20;
// Each result takes some KiB; a full disk loses the results that no server has.
constexpr int64_t kLeastFreeBytes = int64_t{64} << 20;
constexpr int64_t kFewOpenFiles = 1024;
constexpr absl::Duration kFarApart = absl::Seconds(5);

std::string Sentence(const absl::Status& status) { return std::string(status.message()); }

}  // namespace

std::string VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarning:
      return "warning";
    case Verdict::kProblem:
      return "problem";
  }
  return "problem";
}

Finding JudgeWorker(const std::string& path, const absl::Status& version) {
  if (version.ok()) return {"worker", Verdict::kOk, absl::StrCat(path, " is of this build"), ""};
  return {"worker", Verdict::kProblem, Sentence(version),
          "put meshwright-worker of the same release beside meshwright, or name it with --worker"};
}

Finding JudgeDevices(const absl::StatusOr<trial::DeviceList>& devices, bool wanted) {
  const Verdict none = wanted ? Verdict::kProblem : Verdict::kOk;
  if (!devices.ok()) {
    return {"devices", Verdict::kProblem, Sentence(devices.status()),
            "the worker has to run before its devices are known"};
  }
  if (devices->count() == 0) {
    return {"devices", none, absl::StrCat("no GPU: ", devices->reason),
            wanted ? "look at nvidia-smi and CUDA_VISIBLE_DEVICES; a container needs the devices "
                     "passed in"
                   : ""};
  }
  const trial::ListedDevice& first = devices->devices.front();
  const bool alike = std::all_of(
      devices->devices.begin(), devices->devices.end(), [&](const trial::ListedDevice& device) {
        return device.name == first.name && device.memory_bytes == first.memory_bytes;
      });
  const std::string found =
      absl::StrFormat("%d x %s, %s each, compute capability %s", devices->count(), first.name,
                      FormatBytes(first.memory_bytes), first.compute_capability);
  if (alike) return {"devices", Verdict::kOk, found, ""};
  return {"devices", Verdict::kWarning,
          absl::StrCat("devices of several kinds; the first of ", found),
          "set CUDA_VISIBLE_DEVICES to devices of one kind: a trial goes at the slowest's pace"};
}

Finding JudgeMemory(const absl::StatusOr<host::MemoryRoom>& room, int32_t ranks) {
  if (!room.ok()) {
    return {"memory", Verdict::kWarning, Sentence(room.status()),
            "trials start without knowing whether there is room for them"};
  }
  const std::string found =
      absl::StrCat(FormatBytes(room->bytes), " for new processes, by ", room->limit);
  const int64_t needed = ranks * kBytesOfRank;
  if (room->bytes >= needed) return {"memory", Verdict::kOk, found, ""};
  return {"memory", Verdict::kProblem, found,
          absl::StrFormat("%d ranks take %s before they hold a tensor: free some, raise the limit, "
                          "or name fewer ranks",
                          ranks, FormatBytes(needed))};
}

Finding JudgeOpenFiles(int64_t limit) {
  const std::string found = absl::StrCat(limit, " files at once (ulimit -n)");
  if (limit > kFewOpenFiles) return {"files", Verdict::kOk, found, ""};
  return {"files", Verdict::kWarning, found,
          absl::StrCat("a server of many agents needs more than ", kFewOpenFiles,
                       ": LimitNOFILE= of its service, or ulimit -n")};
}

Finding JudgeClock(const std::optional<ClockState>& clock) {
  if (!clock) {
    return {"clock", Verdict::kWarning, "the kernel does not tell whether its clock is kept right",
            "compare it by hand with the server's"};
  }
  if (!clock->synchronised) {
    return {"clock", Verdict::kWarning, "no time service keeps the clock right",
            "run chrony or systemd-timesyncd: events of different machines are put in order by "
            "their times"};
  }
  return {"clock", Verdict::kOk,
          absl::StrCat("kept right, to within ", absl::FormatDuration(clock->most_error)), ""};
}

Finding JudgeStateDir(const std::string& folder, const absl::StatusOr<int64_t>& free_bytes) {
  if (!free_bytes.ok()) {
    return {"state", Verdict::kProblem, Sentence(free_bytes.status()),
            "name a folder of this user with --state-dir"};
  }
  const std::string found = absl::StrCat(folder, ", ", FormatBytes(*free_bytes), " free");
  if (*free_bytes >= kLeastFreeBytes) return {"state", Verdict::kOk, found, ""};
  return {"state", Verdict::kProblem, found,
          "make room: results that no server has are kept there"};
}

Finding JudgeTrial(const wire::DeviceSet& devices, const absl::Status& ran) {
  const bool gpu = devices.kind == planner::DeviceKind::kCuda;
  const std::string ranks = absl::StrFormat("%d %s%s", devices.count, gpu ? "GPU" : "rank",
                                            devices.count == 1 ? "" : "s");
  const std::string library = gpu ? "NCCL" : "Gloo";
  if (ran.ok()) {
    return {"trial", Verdict::kOk,
            absl::StrCat(ranks, " computed",
                         devices.count > 1 ? absl::StrCat(" and talked over ", library) : ""),
            ""};
  }
  return {"trial", Verdict::kProblem, absl::StrCat(ranks, ": ", Sentence(ran)),
          gpu ? "NCCL_DEBUG=INFO of the same command says what NCCL saw"
              : "the message names the rank that failed"};
}

Finding JudgeServer(const std::string& address, const absl::StatusOr<ServerAnswer>& answer,
                    const std::string& own_version, absl::Time now) {
  // A server knows a caller before it looks at the caller's role, and agents may not list agents.
  if (absl::IsPermissionDenied(answer.status())) {
    return {"server", Verdict::kOk,
            absl::StrCat(address,
                         " answers and takes this token or certificate, whose role may connect "
                         "agents but not list them"),
            ""};
  }
  if (!answer.ok()) {
    return {"server", Verdict::kProblem, Sentence(answer.status()),
            absl::IsUnauthenticated(answer.status())
                ? "it answers, and does not take this token or certificate: meshwright token list"
                : "is meshwright serve running there, and does a firewall let this machine in?"};
  }
  const std::string found =
      absl::StrFormat("%s answers, version %s, %d agents", address,
                      answer->version.empty() ? "not told" : answer->version, answer->agents);
  if (!answer->version.empty() && answer->version != own_version) {
    return {
        "server", Verdict::kWarning, found,
        absl::StrCat("this program is ", own_version,
                     ": results of different versions would be mixed; install the same version")};
  }
  if (answer->time) {
    const absl::Duration apart = now - *answer->time;
    if (absl::AbsDuration(apart) > kFarApart) {
      return {"server", Verdict::kWarning,
              absl::StrCat(found, "; its clock is ",
                           absl::FormatDuration(
                               absl::Trunc(absl::AbsDuration(apart), absl::Milliseconds(1))),
                           apart > absl::ZeroDuration() ? " behind" : " ahead of", " this one"),
              "set both by the same time service"};
    }
  }
  return {"server", Verdict::kOk, found, ""};
}

Finding JudgeStandby(const StandbyAnswer& standby) {
  const std::string found =
      absl::StrFormat("%s %s %s: %d transactions, %d bytes and %.3g s behind", standby.name,
                      standby.connected ? "follows" : "does not reach", standby.follows,
                      standby.transactions, standby.behind_bytes, standby.behind_s);
  if (!standby.complete) {
    return {"standby", Verdict::kProblem, found,
            "its copy was never complete, so it can't take over: its log says why"};
  }
  if (!standby.connected) {
    return {"standby", Verdict::kWarning, found,
            "if the first server is gone for good: meshwright standby take-over; else see the "
            "standby's log"};
  }
  if (standby.behind_s > kFarBehindS) {
    return {"standby", Verdict::kWarning, found,
            "what it lacks would be lost with the first server: is the network or its disk slow?"};
  }
  return {"standby", Verdict::kOk, found, ""};
}

Verdict WorstOf(const std::vector<Finding>& findings) {
  Verdict worst = Verdict::kOk;
  for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

}  // namespace meshwright::cli
