// GroupWriter writes to the store on one thread (group commit). Jobs queue up, and those queued are
// stored as one group, in one transaction: many jobs share one wait for the disk.
//
// Callers may rely on: jobs are stored in the order of submission; a job's `stored` runs once, on
// the writer's thread, after its group is durable; while the store can't be written nothing is
// lost, and the same group is retried until it can.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "db/sweep_store.h"

namespace meshwright::server {

class GroupWriter {
 public:
  struct Job {
    // Changes the store. May run more than once, each time as if it had never run before. An error
    // undoes this job alone, except one that says that the store can't be written now, which makes
    // the group wait. Empty where there is nothing to store.
    std::function<absl::Status(db::SweepAccess&)> store;
    // Hears how `store` ended; Cancelled where the writer stopped before it could run. May be
    // empty.
    std::function<void(const absl::Status&)> stored;
  };
  struct Hooks {
    // Gets the events of a group that was just stored, before the jobs' `stored` run.
    std::function<void(std::vector<db::EventRecord>)> events;
    // Called when the store can't be written, and when it can again, on the writer's thread.
    std::function<void(const absl::Status&)> failed;
    std::function<void()> back;
  };

  // `store` must outlive it.
  GroupWriter(db::SweepStore* store, Hooks hooks);
  ~GroupWriter();

  void Submit(Job job);
  // Waits until every job submitted before is stored; false where that takes longer than
  // `patience`.
  bool Flush(absl::Duration patience);
  // Stores what is queued, as far as the store permits, and ends.
  void Stop();

 private:
  using Group = std::vector<Job>;

  void Run();
  // Empty when the writer stops and nothing is left.
  Group TakeGroup();
  // Retries until the group is stored, or the writer stops.
  void StoreGroup(Group group);
  absl::StatusOr<std::vector<db::EventRecord>> TryGroup(const Group& group,
                                                        std::vector<absl::Status>& statuses);
  // Runs the jobs in one transaction. A job that fails is undone alone, or ends the transaction.
  absl::StatusOr<std::vector<db::EventRecord>> TryJobs(const Group& group, bool undo_alone,
                                                       std::vector<absl::Status>& statuses);

  db::SweepStore* const store_;
  const Hooks hooks_;

  // A std:: mutex, since timed waits on absl:: ones end by the wall clock.
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<Job> queue_;  // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  bool failing_ = false;   // used by the writer's thread only
  std::thread thread_;
};

}  // namespace meshwright::server
