#include "server/standby/authority.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace meshwright::server {
namespace {

// Attempts of one trial that a first server may have given out and that its standby lacks.
constexpr int64_t kMostUnknownAttempts = 100;
constexpr int64_t kMostFirstAttempt = 1'000'000'000;

}  // namespace

int32_t FirstAttemptOf(int64_t epoch) {
  return static_cast<int32_t>(std::min((epoch - 1) * kMostUnknownAttempts + 1, kMostFirstAttempt));
}

absl::Status Authority::StatusAfter(const db::StoreIdentity& met,
                                    const std::string& address) const {
  if (met.id != own_.id || met.epoch <= own_.epoch) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "a standby took over", address.empty() ? "" : absl::StrCat(", the server at ", address),
      ": the store is at epoch ", met.epoch, ", and this server is of epoch ", own_.epoch,
      ", so it decides nothing any more; start it again with --standby-of ",
      address.empty() ? "HOST:PORT" : address, " to let it follow"));
}

absl::Status Authority::Hear(const db::StoreIdentity& met, const std::string& address) {
  absl::Status status = StatusAfter(met, address);
  {
    const absl::MutexLock lock(&mutex_);
    if (!status_.ok() || status.ok()) return status_;
    status_ = status;
  }
  lost_(status);
  return status;
}

absl::Status Authority::CheckAgainst(const db::StoreIdentity& met,
                                     const std::string& address) const {
  absl::Status status = StatusAfter(met, address);
  status.Update(Check());
  return status;
}

absl::Status Authority::Check() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

}  // namespace meshwright::server
