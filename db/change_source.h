// ChangeSource is a store whose changes can be copied to another database: as a snapshot, and then
// transaction by transaction (db/standby_copy.h).
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::db {

class ChangeSource {
 public:
  virtual ~ChangeSource() = default;

  // Gets what each transaction changed (db/change_capture.h), in order and never empty. An error
  // ends the capture: changes after it are lost to the sink. Runs while the store is locked, so it
  // must not use the store.
  using ChangeSink = std::function<void(absl::StatusOr<std::string>)>;

  // Passes the changes of all later transactions to `sink`, in place of an earlier one.
  virtual absl::Status BeginCapture(ChangeSink sink) = 0;
  // Returns whether BeginCapture() was ever called, in this process or an earlier one.
  virtual absl::StatusOr<bool> WasCaptured() = 0;
  virtual void EndCapture() = 0;
  // Passes on what other processes changed, which are tokens. Otherwise that waits for the next
  // transaction of this store.
  virtual void CaptureOthers() = 0;

  // Writes a copy of one moment and returns a descriptor of it, whose file has no name. Calls
  // `at_moment` at that moment, while the store is locked: the copy has all changes that the sink
  // got before, and none after. Returns Unavailable if the copy can't be written.
  virtual absl::StatusOr<UniqueFd> Snapshot(const std::function<void()>& at_moment) = 0;
};

}  // namespace meshwright::db
