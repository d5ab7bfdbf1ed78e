#include "server/gateway/sessions.h"

#include "base/system/random_bytes.h"
#include "base/text/status_macros.h"
#include "db/token.h"

namespace meshwright::server {
namespace {

constexpr size_t kNumberBytes = 32;

}  // namespace

template <typename Counts>
void Sessions::MakeRoom(size_t most, const Counts& counts) {
  size_t found = 0;
  auto oldest = sessions_.end();
  for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
    if (!counts(it->second)) continue;
    ++found;
    if (oldest == sessions_.end() || it->second.begin < oldest->second.begin) oldest = it;
  }
  if (found >= most) sessions_.erase(oldest);
}

absl::StatusOr<std::string> Sessions::Begin(const Caller& caller) {
  ASSIGN_OR_RETURN(std::string number, RandomHex(kNumberBytes));
  const absl::Time now = clock_();
  const absl::MutexLock lock(&mutex_);
  std::erase_if(sessions_,
                [&](const auto& entry) { return now >= entry.second.begin + kSessionTime; });
  MakeRoom(kMostSessionsOfOne,
           [&](const Session& session) { return session.caller.token_hash == caller.token_hash; });
  MakeRoom(kMostSessions, [](const Session&) { return true; });
  sessions_.emplace(db::HashOf(number), Session{caller, now});
  return number;
}

std::optional<Caller> Sessions::Find(std::string_view number) const {
  const std::string hash = db::HashOf(number);
  const absl::Time now = clock_();
  const absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(hash);
  if (found == sessions_.end() || now >= found->second.begin + kSessionTime) return std::nullopt;
  return found->second.caller;
}

void Sessions::End(std::string_view number) {
  const std::string hash = db::HashOf(number);
  const absl::MutexLock lock(&mutex_);
  sessions_.erase(hash);
}

}  // namespace meshwright::server
