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

// A function that gets each refusal of a limit, with the limit's name in metrics and the caller as
// events name it.
using RefusalSink = std::function<void(std::string_view limit, const std::string& caller,
                                       const absl::Status& refusal)>;

class ConcurrencyLimit {
 public:
  struct Options {
    std::string_view things;  // what is limited, as messages and metrics name it: "watchers"
    std::string_view flag;    // the flag of `serve` that sets `most`; empty if none does
    // The flag of `serve` that sets `most_per_caller`; empty if there is no such flag.
    std::string_view flag_per_caller;
    int32_t most = 0;             // active simultaneously; 0 means no limit
    int32_t most_per_caller = 0;  // active simultaneously of one caller; 0 means no limit
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

  // Takes a slot for `caller`, who is named as in events. An empty `caller`, on a server whose
  // callers need not authenticate, has no limit per caller. If a limit is reached, returns
  // ResourceExhausted, which names the limit. REQUIRES: the limit outlives the slot.
  absl::StatusOr<std::unique_ptr<Slot>> Take(const std::string& caller);

 private:
  // If a limit is reached, returns the refusal and sets `limit` to the name of that limit. Returns
  // OK if a slot is free.
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
