// The right to hold a stream open: a place among those of its kind, and a caller who counts.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "server/calls/access.h"
#include "server/calls/concurrency_limit.h"

namespace meshwright::server {

class StreamLease {
 public:
  // `access` outlives it. `caller`: none where callers are not asked who they are.
  StreamLease(const Access* access, std::optional<Caller> caller,
              std::unique_ptr<ConcurrencyLimit::Slot> place)
      : access_(access), caller_(std::move(caller)), place_(std::move(place)) {}

  const std::optional<Caller>& caller() const { return caller_; }

  // Unauthenticated once the caller's token was revoked or has expired. To be asked every
  // heartbeat: a stream outlives many a token.
  absl::Status CheckStillCounts() const {
    if (!caller_) return absl::OkStatus();
    const absl::Status status = access_->StillCounts(*caller_);
    // What can't be read now can be read at the next heartbeat.
    return absl::IsUnauthenticated(status) ? status : absl::OkStatus();
  }

 private:
  const Access* access_;
  std::optional<Caller> caller_;
  std::unique_ptr<ConcurrencyLimit::Slot> place_;
};

}  // namespace meshwright::server
