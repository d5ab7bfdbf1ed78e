// KubernetesApi makes the calls to a Kubernetes API server that a launcher needs: server-side
// apply, delete, list and watch, for the objects of one namespace.
//
// Errors of the API server become statuses: 400 and 422 InvalidArgument, 401 Unauthenticated, 403
// PermissionDenied, 404 NotFound, 409 Aborted, 410 OutOfRange, 429 and 5xx Unavailable. Their
// messages name the object and have the server's own message.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "nlohmann/json_fwd.hpp"
#include "tools/cli/launcher/http_transport.h"

namespace meshwright::cli {

struct KubernetesKind {
  const char* group;   // path of the API group with its version
  const char* plural;  // name in paths
};

inline constexpr KubernetesKind kJobSets = {"/apis/jobset.x-k8s.io/v1alpha2", "jobsets"};
inline constexpr KubernetesKind kPods = {"/api/v1", "pods"};

// The longest time without an event after which a watch is renewed.
inline constexpr absl::Duration kWatchTime = absl::Minutes(1);

struct ListedObjects {
  std::vector<nlohmann::json> objects;
  std::string version;  // a watch from here gets all later events
};

struct WatchEvent {
  enum class Kind : uint8_t { kPut, kDeleted, kBookmark };
  Kind kind = Kind::kPut;
  const nlohmann::json& object;  // a bookmark's object has a version alone
};

// Who applies: the fields' manager, in the words of server-side apply.
struct ApplyOptions {
  std::string manager;
  bool dry_run = false;  // the server checks the object and stores nothing
};

class KubernetesApi {
 public:
  // `token` returns the bearer token of the next call, or an empty text if calls need none.
  KubernetesApi(std::shared_ptr<const HttpTransport> http, std::string name_space,
                std::function<absl::StatusOr<std::string>()> token);

  // Creates or changes the object, which has its name in its metadata, and returns it as stored.
  // Returns Aborted if somebody else manages its fields.
  absl::StatusOr<nlohmann::json> Apply(KubernetesKind kind, const nlohmann::json& object,
                                       const ApplyOptions& options) const;
  // Deletes the object once what it owns is gone. Returns OK if there is no such object.
  absl::Status Delete(KubernetesKind kind, std::string_view name) const;
  // Returns the objects with the labels `selector` (KEY=VALUE, separated by commas).
  absl::StatusOr<ListedObjects> List(KubernetesKind kind, std::string_view selector) const;
  // Calls `on_event` for each event after `version`, in their order. Returns OK when the server
  // ends the watch in an orderly way, OutOfRange if `version` is too old, Unavailable if the
  // connection is lost, and Cancelled after `stopped` has returned true.
  absl::Status Watch(KubernetesKind kind, std::string_view selector, std::string_view version,
                     const std::function<void(const WatchEvent&)>& on_event,
                     const std::function<bool()>& stopped) const;

  const std::string& name_space() const { return name_space_; }

 private:
  std::string PathOf(KubernetesKind kind, std::string_view name = {}) const;
  absl::StatusOr<nlohmann::json> Call(HttpRequest request, std::string_view what) const;

  const std::shared_ptr<const HttpTransport> http_;
  const std::string name_space_;
  const std::function<absl::StatusOr<std::string>()> token_;
};

}  // namespace meshwright::cli
