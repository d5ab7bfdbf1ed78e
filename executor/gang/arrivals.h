// Arrivals is a thread-safe queue of connections (links) that members have opened to the leader.
// The relay's thread does the handshakes and pushes the links; the thread that runs the trial takes
// them.
#pragma once

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "executor/gang/tls_socket.h"

namespace meshwright::gang {

class Arrivals {
 public:
  // Queues `link`, or closes it if Close() was called before.
  void Push(TlsSocket link) {
    const absl::MutexLock lock(&mutex_);
    if (open_) links_.push_back(std::move(link));
  }

  std::vector<TlsSocket> TakeAll() {
    const absl::MutexLock lock(&mutex_);
    return std::exchange(links_, {});
  }

  void Close() {
    const absl::MutexLock lock(&mutex_);
    open_ = false;
    links_.clear();
  }

 private:
  absl::Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = true;
  std::vector<TlsSocket> links_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::gang
