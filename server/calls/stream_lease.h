// StreamLease lets one stream stay open: it holds a slot of the stream's ConcurrencyLimit and
// the caller, whose credentials have to stay valid.
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
  // `access` outlives it. `caller`: nullopt where callers need not authenticate.
  StreamLease(const Access* access, std::optional<Caller> caller,
              std::unique_ptr<ConcurrencyLimit::Slot> slot)
      : access_(access), caller_(std::move(caller)), slot_(std::move(slot)) {}

  const std::optional<Caller>& caller() const { return caller_; }

  // Unauthenticated once the caller's token is revoked or expired. To be checked at every
  // heartbeat, since streams outlive tokens.
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
