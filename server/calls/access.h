// Access authenticates callers and decides which methods they may call.
//
// A server with TLS authenticates every call, by a token in its metadata or otherwise by the
// certificate of its connection. A plain-text server, which listens on loopback only, authenticates
// nobody. Callers may rely on: a token counts from its creation until it is revoked or expires,
// whoever does that while the server runs.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
  std::string agent;       // the agent that it belongs to; set for the role agent only
  std::string token_hash;  // set for callers by token only

  // Returns the caller as events name it: "token ann", "certificate ann".
  std::string ToText() const;
};

// Returns the caller that `uri`, a subject alternative name of a certificate, stands for:
// meshwright://ROLE/NAME, where NAME is an agent's name for the role agent. Returns nullopt for any
// other kind of URI; Unauthenticated where ROLE or NAME is not valid.
absl::StatusOr<std::optional<Caller>> CallerOfUri(std::string_view uri);

class Access {
 public:
  using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

  // `asks`: whether callers have to authenticate.
  Access(bool asks, std::function<absl::Time()> clock, LogFunction log);

  // Sets the token store, which outlives this. To be called before calls are let in where callers
  // have to authenticate.
  void Begin(db::TokenStore* tokens) { tokens_.store(tokens); }

  bool asks() const { return asks_; }

  // Returns the caller; nullopt where callers need not authenticate. Unauthenticated, with what to
  // do, for a caller without credentials or with a token that no longer counts; Unavailable where
  // that can't be determined now.
  absl::StatusOr<std::optional<Caller>> CallerOf(const grpc::CallbackServerContext& context) const;

  // Returns the statuses of CallerOf() for a caller that was let in before.
  absl::Status StillCounts(const Caller& caller) const;

  // Returns who calls `method`, where they may; nullopt for a method that needs no authentication.
  // PermissionDenied names the roles that may call it.
  absl::StatusOr<std::optional<Caller>> Check(std::string_view method, const Metadata& metadata,
                                              const grpc::AuthContext& connection) const;

 private:
  absl::StatusOr<Caller> Identify(const Metadata& metadata,
                                  const grpc::AuthContext& connection) const;
  absl::StatusOr<Caller> ByToken(std::string_view authorization) const;
  absl::StatusOr<db::TokenRecord> FindToken(std::string_view hash) const;

  const bool asks_;
  const std::function<absl::Time()> clock_;
  const LogFunction log_;
  std::atomic<db::TokenStore*> tokens_{nullptr};
};

}  // namespace meshwright::server
