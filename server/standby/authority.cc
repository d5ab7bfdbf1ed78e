#include "server/standby/authority.h"

#include "absl/strings/str_cat.h"

namespace meshwright::server {

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
