// Sessions keeps who has logged in at this server's page. A session is known by a random number,
// which the browser holds in a cookie; the token that was shown at the login is not kept.
//
// Callers may rely on: a session ends kSessionTime after its login, at End(), and with this object.
// Whether its token still counts is the caller's to ask (Access::StillCounts). Memory is bounded:
// beyond kMostSessionsOfOne of one caller and kMostSessions of all, the oldest one ends. All
// functions may be called from any thread.
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

  // Ends the oldest one of those that `counts` accepts, if they are `most` or more.
  template <typename Counts>
  void MakeRoom(size_t most, const Counts& counts) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<absl::Time()> clock_;
  mutable absl::Mutex mutex_;
  // By the hash of the number, so that the time of a look-up tells nothing of a number.
  ByHash sessions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server
