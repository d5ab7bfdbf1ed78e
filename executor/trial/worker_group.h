// The workers of one run, wherever they are: heard together, killed together.
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

// How Watch() came to its end.
enum class WorkersEnd : uint8_t { kEnded, kCancelled, kSilent };

class WorkerGroup {
 public:
  // Takes one line of events into the record of the rank that sent it: ApplyEvent(), or a caller's
  // own.
  using TakeEvent = std::function<void(const std::string& line, RankRecord& record)>;

  explicit WorkerGroup(TakeEvent take_event) : take_event_(std::move(take_event)) {}

  // Spawns `ranks` workers that read `plan`. The calling thread must outlive them: they die when it
  // ends.
  absl::Status Start(const std::string& worker_path, const std::string& plan, int32_t ranks);
  // The same for some of the ranks of a run. `launch` says the rest of them, but for the
  // rendezvous, which is on this host.
  absl::Status Start(WorkerLaunch launch, const std::vector<int32_t>& ranks);
  // Takes one that was started, of a rank behind those that are there.
  void Add(StartedRank started);

  struct WatchOptions {
    double timeout_s = 0.0;           // longest silence of a worker that runs
    std::function<bool()> cancelled;  // may be empty
    std::function<void()> heard;      // something may have come; may be empty
  };
  // Listens until all workers have ended, shortly after the first failure, or until there is a
  // reason to give up. A worker that is done may be silent; where all are, those that don't end
  // soon are ended. No worker is left then but those that can't be: their records tell. All times
  // in the records are those of this host's clock then.
  WorkersEnd Watch(const WatchOptions& options);

  // In the order of the ranks.
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
  // For longer than `timeout_s`, of the ranks that are done or of the others.
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
