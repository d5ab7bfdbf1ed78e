// TokenRecord is a caller's token as the database keeps it, with only the token's hash.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/text/enum_names.h"

namespace meshwright::db {

// A caller's role, which decides what the caller may do. An operator may do everything that a
// viewer may; an agent has other rights.
enum class Role : uint8_t { kViewer, kOperator, kAgent };

inline constexpr EnumNames<Role, 3> kRoleNames = {{
    {Role::kViewer, "viewer"},
    {Role::kOperator, "operator"},
    {Role::kAgent, "agent"},
}};

inline std::string_view RoleName(Role role) { return NameOf(kRoleNames, role); }

struct TokenRecord {
  std::string name;       // letters, digits, '.', '-' and '_'; stays taken after revocation
  std::string hash = {};  // as HashOf() makes it
  Role role = Role::kViewer;
  // The agent to which a token of the role agent belongs; empty for other roles.
  std::string agent = {};
  absl::Time create_time;
  std::optional<absl::Time> expire_time = std::nullopt;  // nullopt: it never expires
  std::optional<absl::Time> revoke_time = std::nullopt;  // nullopt: it was not revoked

  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

// Returns OK if the token is valid at `now`. Otherwise returns Unauthenticated, which says since
// when the token is not valid and what to do.
absl::Status CheckCounts(const TokenRecord& token, absl::Time now);

// Returns a new token: "mwt_" and 256 random bits from the system, in hexadecimal.
absl::StatusOr<std::string> NewToken();

// Returns whether `text` has the form of a token.
bool LooksLikeToken(std::string_view text);

// Returns the SHA-256 of the token in hexadecimal.
std::string HashOf(std::string_view token);

// Returns whether two hashes are equal, in a time that does not depend on where they differ.
bool SameHash(std::string_view a, std::string_view b);

}  // namespace meshwright::db
