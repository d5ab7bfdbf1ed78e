// How many of a thing there are at once: of all callers together, and of each that says who it is.
//
// Callers may rely on: a place is free again when its Slot is destroyed, and whoever asks next
// finds it. All functions may be called from any thread.
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

// Hears of each call that was refused by a limit: the limit's name in metrics, the caller as events
// name them, and what they were told.
using RefusalSink = std::function<void(std::string_view limit, const std::string& caller,
                                       const absl::Status& refusal)>;

class ConcurrencyLimit {
 public:
  struct Options {
    std::string_view things;           // that take places, "watchers"; in metrics too
    std::string_view flag;             // of `serve` that sets `most`; empty where none does
    std::string_view flag_per_caller;  // likewise
    int32_t most = 0;                  // at once; 0: any number
    int32_t most_per_caller = 0;       // likewise
  };

  class Slot {
   public:
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

   private:
    friend class ConcurrencyLimit;
    Slot(ConcurrencyLimit* places, std::string caller)
        : places_(places), caller_(std::move(caller)) {}

    ConcurrencyLimit* const places_;
    const std::string caller_;
  };

  ConcurrencyLimit(const Options& options, RefusalSink refused)
      : options_(options), refused_(std::move(refused)) {}

  // A place for one thing of `caller`, as events name them; empty where callers are not asked who
  // they are, and nothing holds for each of them. ResourceExhausted says which limit is reached.
  // The places outlive the Slot.
  absl::StatusOr<std::unique_ptr<Slot>> Take(const std::string& caller);

 private:
  // The refusal, and the name of the limit; OK where a place is free.
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
