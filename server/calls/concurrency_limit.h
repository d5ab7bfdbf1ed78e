// ConcurrencyLimit bounds how many streams, searches or calls are active, in total and per caller.
//
// Callers may rely on: a slot is free again as soon as its Slot is destroyed. All functions may be
// called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace meshwright::server {

// Called for each call that a limit refused, with the limit's name in metrics, the caller as events
// name it, and the refusal.
using RefusalSink = std::function<void(std::string_view limit, const std::string& caller,
                                       const absl::Status& refusal)>;

class ConcurrencyLimit {
 public:
  struct Options {
    std::string_view things;  // what is limited, as messages and metrics name it: "watchers"
    std::string_view flag;    // the flag of `serve` that sets `most`; empty where none does
    std::string_view flag_per_caller;  // the flag that sets `most_per_caller`; likewise
    int32_t most = 0;                  // active at once; 0: no limit
    int32_t most_per_caller = 0;       // active at once of one caller; 0: no limit
  };

  class Slot {
   public:
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

   private:
    friend class ConcurrencyLimit;
    Slot(ConcurrencyLimit* limit, std::string caller) : limit_(limit), caller_(std::move(caller)) {}

    ConcurrencyLimit* const limit_;
    const std::string caller_;
  };

  ConcurrencyLimit(const Options& options, RefusalSink refused)
      : options_(options), refused_(std::move(refused)) {}

  // Takes a slot for `caller`, named as in events; empty where callers need not authenticate, when
  // no limit per caller applies. ResourceExhausted says which limit is reached. The limit outlives
  // the Slot.
  absl::StatusOr<std::unique_ptr<Slot>> Take(const std::string& caller);

 private:
  // Returns the refusal and sets the limit's name; OK where a slot is free.
  absl::Status Find(const std::string& caller, std::string& limit) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Free(const std::string& caller);

  const Options options_;
  const RefusalSink refused_;
  absl::Mutex mutex_;
  int32_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, int32_t> by_caller_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server
