// Access authenticates callers and decides which methods they may call.
//
// A server with TLS authenticates every call: by the token in the call's metadata or, without one,
// by the certificate of its connection. A plain-text server listens on loopback only and
// authenticates nobody. The gateway checks calls over HTTP/1.1 by the same functions
// (server/gateway). It then makes the call inside this process, with an introduction that
// identifies the caller.
//
// Callers may rely on: a token is valid from its creation until it expires or is revoked. This also
// holds for tokens that another process creates or revokes while the server runs. A certificate is
// valid until it expires. After that, calls are refused even on connections that were opened
// before.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/system/log.h"
#include "db/token_store.h"
#include "grpcpp/security/auth_context.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/string_ref.h"

namespace meshwright::server {

struct Caller {
  enum class By : uint8_t { kToken, kCertificate };

  By by = By::kToken;
  db::Role role = db::Role::kViewer;
  std::string name;        // the token's name, or the name in the certificate
  std::string agent;       // the agent to which the credentials belong; set for the role agent only
  std::string token_hash;  // set only if the caller used a token
  // The time at which the certificate expires. A token's expiry is in the database.
  absl::Time end = absl::InfiniteFuture();

  // Returns the caller as events name it: "token ann", "certificate ann".
  std::string ToText() const;
};

// Returns the caller that `uri` names. `uri` is a subject alternative name of a certificate and has
// the form meshwright://ROLE/NAME; for the role agent, NAME is the agent's name. Returns nullopt
// for a URI with another scheme, and Unauthenticated if ROLE or NAME is not valid.
absl::StatusOr<std::optional<Caller>> CallerOfUri(std::string_view uri);

// The credentials that came with a call. The memory behind the views must outlive every function
// that gets them.
struct Credentials {
  // The values of the metadata or header field `authorization`.
  std::vector<std::string_view> authorization;
  // Whether the connection has a certificate that the client CA verified.
  bool has_certificate = false;
  std::vector<std::string_view> certificate_uris;  // among its subject's alternative names
  std::string_view certificate_pem;
};

// The metadata key under which a call inside this process carries the secret of an Introduction.
inline constexpr char kIntroduction[] = "meshwright-introduction";

class Access {
 public:
  using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

  // While an Introduction exists, calls inside this process that carry its secret count as its
  // caller's.
  class Introduction {
   public:
    ~Introduction();
    Introduction(const Introduction&) = delete;
    Introduction& operator=(const Introduction&) = delete;
    // The value for kIntroduction: 256 random bits, which nobody outside this process knows.
    const std::string& secret() const { return secret_; }

   private:
    friend class Access;
    Introduction(const Access* access, std::string secret)
        : access_(access), secret_(std::move(secret)) {}

    const Access* const access_;
    const std::string secret_;
  };

  // `asks` is true if callers have to authenticate.
  Access(bool asks, std::function<absl::Time()> clock, LogFunction log);

  // Sets the token store, which must outlive this object. Until then, calls with a token get
  // Unavailable. REQUIRES: if callers have to authenticate, Begin() runs before calls are admitted.
  void Begin(db::TokenStore* tokens) { tokens_.store(tokens); }

  bool asks() const { return asks_; }

  // Returns the caller. Returns Unauthenticated, with advice, if the credentials are missing,
  // unknown, revoked or expired. Returns Unavailable if the token can't be looked up now.
  absl::StatusOr<Caller> Identify(const Credentials& credentials) const;

  // Returns the caller of a call that a service handles, or nullopt if callers need not
  // authenticate. Returns the errors of Identify().
  absl::StatusOr<std::optional<Caller>> CallerOf(const grpc::CallbackServerContext& context) const;

  // Returns an introduction of a caller whom Identify() or StillCounts() has just accepted, or
  // Unavailable if the system gives no random numbers. REQUIRES: this object outlives the
  // introduction.
  absl::StatusOr<std::unique_ptr<Introduction>> Introduce(const Caller& caller) const;

  // Returns OK if the credentials of an earlier caller are still valid, and otherwise an error of
  // CallerOf().
  absl::Status StillCounts(const Caller& caller) const;

  // Returns OK if the caller's role may call `method`. Otherwise returns Unimplemented if the
  // method is unknown, or else PermissionDenied, which names the roles that may call the method.
  absl::Status CheckRole(std::string_view method, const Caller& caller) const;

  // Returns the caller of `method`, or nullopt if the method needs no authentication. Returns the
  // errors of Identify() and CheckRole().
  absl::StatusOr<std::optional<Caller>> Check(std::string_view method, const Metadata& metadata,
                                              const grpc::AuthContext& connection) const;

 private:
  absl::StatusOr<Caller> ByToken(std::string_view authorization) const;
  absl::StatusOr<Caller> ByCertificate(const Credentials& credentials) const;
  absl::Status CheckEnd(const Caller& caller) const;
  absl::StatusOr<db::TokenRecord> FindToken(std::string_view hash) const;

  const bool asks_;
  const std::function<absl::Time()> clock_;
  const LogFunction log_;
  std::atomic<db::TokenStore*> tokens_{nullptr};
  mutable absl::Mutex mutex_;
  mutable std::map<std::string, Caller> introduced_ ABSL_GUARDED_BY(mutex_);  // by their secret
};

}  // namespace meshwright::server
