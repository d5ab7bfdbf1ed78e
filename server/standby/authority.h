// Authority is a server's right to decide about its store. A server has it until it learns that a
// server of a later epoch decides about the same store.
//
// Callers may rely on: all functions may be called from any thread. A right that was lost never
// comes back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "db/standby_copy.h"

namespace meshwright::server {

// Returns the lowest number of attempts that a server of this epoch may give out. Attempts of
// different epochs have different numbers: a standby that takes over may lack attempts that agents
// hold.
int32_t FirstAttemptOf(int64_t epoch);

class Authority {
 public:
  // Runs once, when the right is lost, with the status of Check().
  using Lost = std::function<void(const absl::Status&)>;

  Authority(db::StoreIdentity own, Lost lost) : own_(std::move(own)), lost_(std::move(lost)) {}

  const db::StoreIdentity& own() const { return own_; }

  // Notes that a server of this identity at `address`, which may be empty, decides. Returns
  // Check().
  absl::Status Hear(const db::StoreIdentity& met, const std::string& address);
  // Returns FailedPrecondition if a server of this identity would decide in place of this one. The
  // right stays: the word is that of somebody who may not end a server, such as an agent.
  absl::Status CheckAgainst(const db::StoreIdentity& met, const std::string& address) const;
  // Returns FailedPrecondition, which says who took over and what to do, once the right is lost.
  absl::Status Check() const;

 private:
  absl::Status StatusAfter(const db::StoreIdentity& met, const std::string& address) const;

  const db::StoreIdentity own_;
  const Lost lost_;
  mutable absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server
