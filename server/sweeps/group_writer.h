// GroupWriter writes to the store on one thread, by group commit: queued jobs are stored as one
// group, in one transaction, and share one wait for the disk.
//
// Callers may rely on:
// - Jobs are stored in the order of submission.
// - A job's `stored` runs once, on the writer's thread, after the job's group is durable or once
//   the writer stops.
// - While the store can't be written, nothing is lost: the same group is retried until it is
//   stored.
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
    // Changes the store; empty if there is nothing to store. It may run more than once, and each
    // run finds the store without the changes of earlier runs. An error undoes this job alone. But
    // if the error says that the store can't be written now, the whole group is retried later.
    std::function<absl::Status(db::SweepAccess&)> store;
    // Gets the status of `store`, or Cancelled if the writer stopped before the job was stored. May
    // be empty.
    std::function<void(const absl::Status&)> stored;
  };
  struct Hooks {
    // Called once a group with changes is durable, before all else. It may block for a short time,
    // in which nothing else is stored. May be empty.
    std::function<void()> durable = {};
    // Gets the events of a group that was just stored. Runs before the jobs' `stored`.
    std::function<void(std::vector<db::EventRecord>)> events;
    // Called on the writer's thread when the store can no longer be written.
    std::function<void(const absl::Status&)> failed;
    // Called on the writer's thread when the store can be written again.
    std::function<void()> back;
  };

  // `store` must outlive the writer.
  GroupWriter(db::SweepStore* store, Hooks hooks);
  ~GroupWriter();

  void Submit(Job job);
  // Waits until every job submitted so far is stored. Returns false if that takes longer than
  // `patience`.
  bool Flush(absl::Duration patience);
  // Stores the queued jobs, as far as the store can be written, and ends the thread.
  void Stop();

 private:
  using Group = std::vector<Job>;

  void Run();
  // Waits for jobs and takes them. Returns an empty group if the writer stops and no job is left.
  Group TakeGroup();
  // Retries until the group is stored, or the writer stops.
  void StoreGroup(Group group);
  absl::StatusOr<std::vector<db::EventRecord>> TryGroup(const Group& group,
                                                        std::vector<absl::Status>& statuses);
  // Runs the jobs in one transaction. A job that fails is undone alone if `undo_alone`; otherwise
  // it ends the transaction.
  absl::StatusOr<std::vector<db::EventRecord>> TryJobs(const Group& group, bool undo_alone,
                                                       std::vector<absl::Status>& statuses);

  db::SweepStore* const store_;
  const Hooks hooks_;

  // A std::mutex, since timed waits on an absl::Mutex follow the wall clock.
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<Job> queue_;  // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  bool failing_ = false;   // used by the writer's thread only
  std::thread thread_;
};

}  // namespace meshwright::server
