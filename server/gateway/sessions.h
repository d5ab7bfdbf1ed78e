// Sessions records the callers who logged in at this server's page. A session is identified by a
// random number, which the browser keeps in a cookie. Of the token that was used for the login,
// only the hash is kept.
//
// Callers may rely on: a session ends kSessionTime after its login, at End(), and with this object.
// It does not end when its token is revoked or expires; users of this class have to check that
// (Access::StillCounts). Memory is bounded: a login that would exceed kMostSessionsOfOne sessions
// of one token, or kMostSessions in total, ends the oldest of these sessions. All functions may be
// called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/calls/access.h"

namespace meshwright::server {

inline constexpr absl::Duration kSessionTime = absl::Hours(12);
inline constexpr size_t kMostSessions = 1000;
inline constexpr size_t kMostSessionsOfOne = 20;

class Sessions {
 public:
  explicit Sessions(std::function<absl::Time()> clock) : clock_(std::move(clock)) {}

  // Begins a session and returns its number. Returns Unavailable if the system gives no random
  // numbers.
  absl::StatusOr<std::string> Begin(const Caller& caller);
  // Returns the caller of a session that has not ended.
  std::optional<Caller> Find(std::string_view number) const;
  void End(std::string_view number);

 private:
  struct Session {
    Caller caller;
    absl::Time begin;
  };
  using ByHash = std::map<std::string, Session>;

  // If `counts` accepts `most` or more sessions, ends the oldest of them.
  template <typename Counts>
  void MakeRoom(size_t most, const Counts& counts) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<absl::Time()> clock_;
  mutable absl::Mutex mutex_;
  // By the hash of the number, so that the duration of a look-up reveals nothing about a number.
  ByHash sessions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server
