// KubernetesObjects keeps the objects of one kind up to date in a thread of its own: it lists them,
// watches them from there, and lists them again after the server has forgotten the version of the
// watch (410 Gone) or the connection was lost.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "nlohmann/json.hpp"
#include "tools/cli/launcher/kubernetes_api.h"
#include "tools/cli/launcher/object_cache.h"

namespace meshwright::cli {

class KubernetesObjects {
 public:
  KubernetesObjects(std::shared_ptr<const KubernetesApi> api, KubernetesKind kind,
                    std::string selector);
  // Ends the thread, which takes up to a second.
  ~KubernetesObjects();
  KubernetesObjects(const KubernetesObjects&) = delete;
  KubernetesObjects& operator=(const KubernetesObjects&) = delete;

  // Returns the objects. Waits for the first list. Returns the error of the last list if it failed.
  absl::StatusOr<std::vector<nlohmann::json>> Read() const;
  // Puts in an object that a call returned, so that the next Read() returns it.
  void Put(const nlohmann::json& object);

 private:
  void Run();
  bool List();
  bool Stopping() const;
  // Waits before the next attempt after an error, for a time that doubles up to 30 s.
  void Pause(int32_t failures);

  const std::shared_ptr<const KubernetesApi> api_;
  const KubernetesKind kind_;
  const std::string selector_;
  mutable absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool listed_ ABSL_GUARDED_BY(mutex_) = false;  // at least one attempt has ended
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  ObjectCache cache_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace meshwright::cli
