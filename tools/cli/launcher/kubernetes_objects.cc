#include "tools/cli/launcher/kubernetes_objects.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"

namespace meshwright::cli {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(500);
constexpr absl::Duration kLongestPause = absl::Seconds(30);

}  // namespace

KubernetesObjects::KubernetesObjects(std::shared_ptr<const KubernetesApi> api, KubernetesKind kind,
                                     std::string selector)
    : api_(std::move(api)), kind_(kind), selector_(std::move(selector)) {
  thread_ = std::thread([this] { Run(); });
}

KubernetesObjects::~KubernetesObjects() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

absl::StatusOr<std::vector<nlohmann::json>> KubernetesObjects::Read() const {
  const absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&listed_));
  if (!error_.ok()) return error_;
  return cache_.Objects();
}

void KubernetesObjects::Put(const nlohmann::json& object) {
  const absl::MutexLock lock(&mutex_);
  cache_.Put(object);
}

bool KubernetesObjects::Stopping() const {
  const absl::MutexLock lock(&mutex_);
  return stopping_;
}

bool KubernetesObjects::List() {
  const absl::StatusOr<ListedObjects> listed = api_->List(kind_, selector_);
  const absl::MutexLock lock(&mutex_);
  if (listed.ok()) cache_.Replace(*listed);
  error_ = listed.status();
  listed_ = true;
  return listed.ok();
}

void KubernetesObjects::Pause(int32_t failures) {
  const absl::Duration pause =
      std::min(kLongestPause, kFirstPause * (int64_t{1} << std::min(failures, 16)));
  const absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(&stopping_), pause);
}

void KubernetesObjects::Run() {
  int32_t failures = 0;
  while (!Stopping()) {
    if (!List()) {
      Pause(failures++);
      continue;
    }
    absl::Status watch;
    while (watch.ok() && !Stopping()) {
      std::string version;
      {
        const absl::MutexLock lock(&mutex_);
        version = cache_.version();
      }
      watch = api_->Watch(
          kind_, selector_, version,
          [&](const WatchEvent& event) {
            failures = 0;
            const absl::MutexLock lock(&mutex_);
            cache_.Apply(event);
          },
          [this] { return Stopping(); });
    }
    // A list follows at once after 410 Gone; a server that cuts each watch must not be flooded.
    if (!absl::IsOutOfRange(watch)) Pause(failures++);
  }
}

}  // namespace meshwright::cli
