// What callers name themselves with: a token, of which a database keeps the hash alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/text/enum_names.h"

namespace meshwright::db {

// What a caller may do. An operator may do what a viewer may; an agent is apart.
enum class Role : uint8_t { kViewer, kOperator, kAgent };

inline constexpr EnumNames<Role, 3> kRoleNames = {{
    {Role::kViewer, "viewer"},
    {Role::kOperator, "operator"},
    {Role::kAgent, "agent"},
}};

inline std::string_view RoleName(Role role) { return NameOf(kRoleNames, role); }

struct TokenRecord {
  std::string name;       // letters, digits, '.', '-' and '_'; stays taken once it is revoked
  std::string hash = {};  // as HashOf() makes it
  Role role = Role::kViewer;
  std::string agent = {};  // whom a token of the role agent belongs to; empty for the others
  absl::Time create_time;
  std::optional<absl::Time> expire_time = std::nullopt;  // none: never
  std::optional<absl::Time> revoke_time = std::nullopt;  // none: it was not revoked

  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

// OK, or Unauthenticated that says since when the token counts no more and what to do.
absl::Status CheckCounts(const TokenRecord& token, absl::Time now);

// A new token: "mwt_" and 256 bits from the system, hexadecimal.
absl::StatusOr<std::string> NewToken();

// Whether `text` has the form of a token.
bool LooksLikeToken(std::string_view text);

// SHA-256 of the token, hexadecimal.
std::string HashOf(std::string_view token);

// In a time that does not depend on where the two differ.
bool SameHash(std::string_view a, std::string_view b);

}  // namespace meshwright::db
