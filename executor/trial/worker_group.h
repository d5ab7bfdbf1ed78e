// WorkerGroup reads the events of the workers of one run, local or remote, and ends the workers
// together.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/trial/rank_process.h"
#include "executor/trial/rank_record.h"
#include "executor/trial/worker_process.h"

namespace meshwright::trial {

// Why Watch() returned.
enum class WorkersEnd : uint8_t { kEnded, kCancelled, kSilent };

class WorkerGroup {
 public:
  // Applies one line of events to the record of the rank that sent it: ApplyEvent(), or the
  // caller's own function.
  using TakeEvent = std::function<void(const std::string& line, RankRecord& record)>;

  explicit WorkerGroup(TakeEvent take_event) : take_event_(std::move(take_event)) {}

  // Spawns `ranks` workers that read `plan`. REQUIRES: the calling thread outlives the workers,
  // which die when it ends.
  absl::Status Start(const std::string& worker_path, const std::string& plan, int32_t ranks);
  // Spawns workers for some of a run's ranks, with a rendezvous on this host. `launch` has
  // everything else that the workers need. REQUIRES: the calling thread outlives the workers.
  absl::Status Start(WorkerLaunch launch, const std::vector<int32_t>& ranks);
  // Adds a started rank. REQUIRES: ranks are added in increasing order of their numbers.
  void Add(StartedRank started);

  struct WatchOptions {
    double timeout_s = 0.0;           // longest silence of a running worker
    std::function<bool()> cancelled;  // may be empty
    std::function<void()> heard;      // called when something may have arrived; may be empty
    double grace_s = 2.0;  // after the first failure, the other ranks may still report this long
  };
  // Reads events until all workers have ended, until shortly after the first failure, until a
  // worker is silent for too long, or until `cancelled` returns true. Then ends the workers that
  // still run. A worker that is done may be silent, but once all workers are done, they have to end
  // soon.
  //
  // On return, all times in the records are on this host's clock. The record of a worker that could
  // not be ended has its pid.
  WorkersEnd Watch(const WatchOptions& options);

  // Returns the records in order of the ranks.
  std::vector<RankRecord>& records() { return records_; }
  const std::vector<RankRecord>& records() const { return records_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker {
    std::unique_ptr<RankProcess> process;
    Clock::time_point last_sign;
  };

  WorkersEnd Listen(const WatchOptions& options);
  bool AllEnded() const;
  bool AnyFailed() const;
  // Returns whether a rank was silent for longer than `timeout_s`. Considers only ranks that are
  // done if `done`, and otherwise only ranks that are not done.
  bool AnySilent(Clock::time_point now, double timeout_s, bool done) const;
  bool AllDone() const;
  void EndAll();
  void WaitForSomething();
  void TakeIn(size_t rank);

  const TakeEvent take_event_;
  std::vector<Worker> workers_;
  std::vector<RankRecord> records_;
};

}  // namespace meshwright::trial
