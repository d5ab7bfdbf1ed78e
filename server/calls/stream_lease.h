// StreamLease allows one stream to stay open. It holds a slot of a ConcurrencyLimit, and the
// caller, whose credentials have to stay valid.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "server/calls/access.h"
#include "server/calls/concurrency_limit.h"
#include "server/calls/connection_guard.h"

namespace meshwright::server {

class StreamLease {
 public:
  // `caller` is nullopt if callers need not authenticate; `peer` is the stream's connection.
  // REQUIRES: `access` and `guard` outlive the lease.
  StreamLease(const Access* access, std::optional<Caller> caller,
              std::unique_ptr<ConcurrencyLimit::Slot> slot, ConnectionGuard* guard,
              std::string peer)
      : access_(access),
        caller_(std::move(caller)),
        slot_(std::move(slot)),
        guard_(guard),
        peer_(std::move(peer)) {}

  const std::optional<Caller>& caller() const { return caller_; }

  // Tells the guard that a message of the stream arrived. Must be called for each message.
  void CountReceived(const google::protobuf::Message& message) const {
    guard_->Received(peer_, static_cast<int64_t>(message.ByteSizeLong()));
  }

  // Returns Unauthenticated once the caller's token is revoked or its token or certificate has
  // expired. REQUIRES: the stream calls this function at every heartbeat, since it may outlive the
  // token and the certificate.
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
  ConnectionGuard* guard_;
  std::string peer_;
};

}  // namespace meshwright::server
