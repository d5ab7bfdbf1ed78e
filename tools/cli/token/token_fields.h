// TokenText declares the fields of tokens that commands print (planner/codec/fields.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "db/token_store.h"
#include "planner/codec/fields.h"

namespace meshwright::cli {

// Returns the time in RFC 3339, in UTC with seconds.
inline std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

struct TokenText {
  db::TokenRecord token;
};

template <typename Visitor>
void VisitFields(const TokenText& text, Visitor& visit) {
  const db::TokenRecord& token = text.token;
  const auto time = [&](planner::Field field, const std::optional<absl::Time>& at) {
    visit(planner::NullUnless(at.has_value(), field), at ? TimeText(*at) : std::string());
  };
  visit({"name", "Name of the token, which events show"}, token.name);
  visit({"role", "What its bearer may do"}, token.role, db::kRoleNames);
  visit(planner::NullUnless(
            !token.agent.empty(),
            {"agent", "Name of the agent that the token is for; null for other roles"}),
        token.agent);
  visit({"create_time", "When it was made, RFC 3339, UTC"}, TimeText(token.create_time));
  time({"expire_time", "When the token stops being valid; null for never"}, token.expire_time);
  time({"revoke_time", "When it was revoked; null where it was not"}, token.revoke_time);
}

struct NewTokenText {
  TokenText token;
  std::string secret;
};

template <typename Visitor>
void VisitFields(const NewTokenText& made, Visitor& visit) {
  VisitFields(made.token, visit);
  visit({"token", "The token itself, which is shown this once"}, made.secret);
}

struct TokenListText {
  std::vector<TokenText> tokens;
};

template <typename Visitor>
void VisitFields(const TokenListText& list, Visitor& visit) {
  visit({"tokens", "By name"}, list.tokens);
}

struct RevokedText {
  std::string revoked;
};

template <typename Visitor>
void VisitFields(const RevokedText& text, Visitor& visit) {
  visit({"revoked", "Name of the token that was revoked"}, text.revoked);
}

}  // namespace meshwright::cli
