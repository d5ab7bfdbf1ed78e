// Who calls, and whether they may.
//
// A server with TLS asks every caller, by a token in the call or else by the certificate of the
// connection; one in plain text, which listens on loopback only, asks nobody. Callers may rely on:
// a token counts from when it is made until it is revoked or expires, whoever does that while the
// server runs.
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
  std::string name;        // of the token, or in the certificate
  std::string agent;       // whom it belongs to; only of the role agent
  std::string token_hash;  // only by a token

  // As events name it: "token ann", "certificate ann".
  std::string ToText() const;
};

// The caller that a certificate names by a URI among its subject's alternative names:
// meshwright://ROLE/NAME, where NAME is an agent's name for the role agent. nullopt for a URI of
// another kind. Unauthenticated where ROLE or NAME can't be one.
absl::StatusOr<std::optional<Caller>> CallerOfUri(std::string_view uri);

class Access {
 public:
  using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

  // `asks`: whether callers have to say who they are.
  Access(bool asks, std::function<absl::Time()> clock, LogFunction log);

  // Before calls are let in, where callers are asked. `tokens` outlives it.
  void Begin(db::TokenStore* tokens) { tokens_.store(tokens); }

  bool asks() const { return asks_; }

  // nullopt where callers are not asked. Unauthenticated, saying what to do, for one who does not
  // say who they are, or whose token counts no more; Unavailable where that can't be known now.
  absl::StatusOr<std::optional<Caller>> CallerOf(const grpc::CallbackServerContext& context) const;

  // As CallerOf()'s statuses for a caller that was let in before.
  absl::Status StillCounts(const Caller& caller) const;

  // Who calls this method, where it may go to its service; nullopt for a method that asks nobody.
  // PermissionDenied names the roles that may.
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
