// StreamLease allows one stream to stay open. It holds a slot of a ConcurrencyLimit, and the
// caller, whose credentials have to stay valid.
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
  // `caller` is nullopt if callers need not authenticate. REQUIRES: `access` outlives the lease.
  StreamLease(const Access* access, std::optional<Caller> caller,
              std::unique_ptr<ConcurrencyLimit::Slot> slot)
      : access_(access), caller_(std::move(caller)), slot_(std::move(slot)) {}

  const std::optional<Caller>& caller() const { return caller_; }

  // Returns Unauthenticated once the caller's token is revoked or has expired. Must be called at
  // every heartbeat, since a stream may outlive the token.
  absl::Status CheckStillCounts() const {
    if (!caller_) return absl::OkStatus();
    const absl::Status status = access_->StillCounts(*caller_);
    // A token that can't be read now is read at the next heartbeat.
    return absl::IsUnauthenticated(status) ? status : absl::OkStatus();
  }

 private:
  const Access* access_;
  std::optional<Caller> caller_;
  std::unique_ptr<ConcurrencyLimit::Slot> slot_;
};

}  // namespace meshwright::server
