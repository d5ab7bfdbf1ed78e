// ChangeLog keeps a store's newest transactions in memory, numbered, so that standbys can follow.
//
// The log begins with the first standby. A standby that comes back goes on where it was if the log
// still has all later transactions; otherwise it takes a snapshot. The log ends, and costs nothing
// more, once it is full and no standby is connected.
//
// Callers may rely on: all functions may be called from any thread, and none blocks the store for
// longer than a moment.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/system/log.h"
#include "base/system/monotonic_time.h"
#include "base/system/unique_fd.h"
#include "db/change_source.h"
#include "db/standby_copy.h"
#include "server/standby/standing.h"

namespace meshwright::server {

struct ChangeLogOptions {
  int64_t most_bytes = int64_t{64} << 20;  // of the transactions that are kept
  MonotonicClock clock = MonotonicNow;
  LogFunction log = {};  // may be empty
};

class ChangeLog {
 public:
  using Options = ChangeLogOptions;
  struct Transaction {
    int64_t number = 0;
    std::string changes;
    MonotonicTime time;
  };
  struct Snapshot {
    UniqueFd file;
    db::CopyPlace place;
  };

  // `source` must outlive the log; null for a store that can't be followed.
  explicit ChangeLog(db::ChangeSource* source, Options options = {});
  ~ChangeLog();

  // Returns whether the log has all transactions after this place.
  bool Has(const db::CopyPlace& place) const;
  // Takes a snapshot and keeps all later transactions. Returns Unimplemented for a store in memory.
  absl::StatusOr<Snapshot> TakeSnapshot();
  // Waits for the transaction after `place`, for at most `patience`. Returns null if none came.
  // Returns OutOfRange if the log no longer has it, and Cancelled after Stop().
  absl::StatusOr<std::shared_ptr<const Transaction>> Next(const db::CopyPlace& place,
                                                          absl::Duration patience);
  // Returns the number of the newest transaction.
  int64_t newest() const;
  // Passes on what other processes stored. Called from time to time.
  void LookForOthers();

  // Note that a standby's stream opened or ended, and what the standby has. A standby of the same
  // name takes the place of an earlier one.
  void Connect(const std::string& standby);
  void Disconnect(const std::string& standby);
  void Acknowledge(const std::string& standby, const db::CopyPlace& place);

  // Returns the standbys since the log was made, by name.
  std::vector<StandbyLag> Lags() const;
  // Returns whether a standby may lack what was stored last. That stays so once the store had a
  // standby: it may take over while a first server that comes back does not know of it.
  bool HasStandbys() const;
  // Waits until every connected standby that has been up to date within the last transactions has
  // everything that is stored now, for at most `patience`. Returns false if that took longer.
  bool AwaitStandbys(absl::Duration patience);
  // Ends all waits.
  void Stop();

 private:
  struct Standby {
    int32_t streams = 0;  // a stream that replaces another one overlaps with it
    std::optional<db::CopyPlace> place;
    MonotonicTime had_all;  // when it last lacked nothing
  };

  absl::Status BeginWhereDue();
  // Gets one transaction's changes, or why there are no more.
  void Add(absl::StatusOr<std::string> changes);
  bool HasLocked(const db::CopyPlace& place) const;
  bool IsConnectedLocked() const;
  StandbyLag LagOf(const std::string& name, const Standby& standby) const;

  db::ChangeSource* const source_;
  const Options options_;
  const bool had_standbys_;  // before the log was made
  std::mutex beginning_;  // held while the capture begins
  // A std::mutex, since timed waits on an absl::Mutex follow the wall clock.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All below are guarded by mutex_.
  std::string log_id_;  // empty while nothing is captured
  int64_t newest_ = 0;  // number of the newest transaction
  std::deque<std::shared_ptr<const Transaction>> kept_;
  int64_t kept_bytes_ = 0;
  std::map<std::string, Standby> standbys_;
  bool stopped_ = false;
};

}  // namespace meshwright::server
