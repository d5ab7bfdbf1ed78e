// Gateway answers the HTTP requests of the page and of scripts: files of the page, calls of gRPC
// methods in JSON (json_calls.h), the login, and the metrics.
//
//   GET  /, /FILE                        files of the page, which are public
//   GET  /metrics                        for viewers
//   POST /meshwright.v1.SERVICE/METHOD   a call of a gRPC method
//   POST /login, /logout                 begin and end a session
//   POST /session                        returns the caller's name and role
//
// Callers may rely on:
// - A request is authenticated, authorised and counted by the same objects as a call over gRPC
//   (Access, Limits), before its body is read. Over TLS, a token, a session or a certificate
//   identifies the caller. In plain text, callers need not authenticate, but have to send the key
//   if the options have one.
// - The gateway refuses a request that another site's page makes a browser send (same_origin.h).
// - Every answer has header fields that forbid browsers to show it inside other sites' pages, and
//   forbid the page to load anything from other servers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/system/monotonic_time.h"
#include "grpcpp/channel.h"
#include "planner/data/embedded.h"
#include "server/calls/access.h"
#include "server/calls/limits.h"
#include "server/gateway/json_calls.h"
#include "server/gateway/login_tries.h"
#include "server/gateway/sessions.h"
#include "server/gateway/static_files.h"
#include "server/http/http_service.h"
#include "server/services/metrics.h"

namespace meshwright::server {

struct GatewayOptions {
  // Host names by which the server may be called, besides its addresses and localhost.
  std::vector<std::string> names;
  // If not empty, every request except those for the page's files must have it in the header field
  // kKeyField. Used without TLS only.
  std::string key;
  absl::Span<const planner::EmbeddedFile> files;
  const Metrics* metrics = nullptr;  // null: no /metrics
  std::function<absl::Time()> clock;
  MonotonicClock monotonic_clock = MonotonicNow;
  absl::Duration stream_interval = kStreamInterval;
};

inline constexpr char kKeyField[] = "x-meshwright-key";
inline constexpr char kSessionCookie[] = "__Host-meshwright";

class Gateway {
 public:
  // `channel` leads to the gRPC server of this process. REQUIRES: `access`, `limits` and the
  // objects to which `options` refers outlive this object.
  Gateway(GatewayOptions options, std::shared_ptr<grpc::Channel> channel, const Access* access,
          Limits* limits);

  // Return the service and the limits for the HttpServer that passes requests to this object.
  // REQUIRES: this object outlives that server.
  HttpService Service();
  static HttpLimits ConnectionLimits();

 private:
  enum class Kind : uint8_t { kCall, kLogin, kLogout, kSession, kMetrics, kFile };
  // What Admit() determined about a request, for Handle().
  struct Admitted {
    Kind kind = Kind::kFile;
    std::optional<Caller> caller;
    std::string session;  // its number; empty if the caller used other credentials
  };

  // The functions of HttpService.
  HttpAdmission Admit(HttpRequest& head);
  void Handle(HttpRequest request, const std::shared_ptr<HttpExchange>& exchange);

  HttpAdmission AdmitGet(HttpRequest& head) const;
  absl::StatusOr<Admitted> AdmitPost(const HttpRequest& head);
  absl::StatusOr<Admitted> AdmitCall(const HttpRequest& head);
  // Identifies the caller of a request; without TLS, checks the key.
  absl::StatusOr<Admitted> Identify(const HttpRequest& head, Kind kind) const;
  absl::Status CheckKey(const HttpRequest& head) const;
  absl::Status StillCounts(const Admitted& admitted) const;

  HttpResponse AnswerTo(const HttpRequest& request, const Admitted& admitted);
  HttpResponse Login(const HttpRequest& request);
  HttpResponse Logout(const Admitted& admitted);
  HttpResponse Session(const Admitted& admitted) const;
  HttpResponse File(const HttpRequest& request) const;
  void Call(HttpRequest request, const Admitted& admitted,
            const std::shared_ptr<HttpExchange>& exchange);

  const GatewayOptions options_;
  const Access* const access_;
  Limits* const limits_;
  const StaticFiles files_;
  Sessions sessions_;
  LoginTries tries_;
  JsonCalls calls_;
};

}  // namespace meshwright::server
