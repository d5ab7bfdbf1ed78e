// Which role a caller needs for which method: the one list of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "db/token.h"

namespace meshwright::server {

enum class Needs : uint8_t {
  kNothing,  // anybody who reaches the port
  kViewer,   // or an operator
  kOperator,
  kAgent
};

struct MethodRole {
  std::string_view path;  // "/package.Service/Method"
  Needs needs;
};

// All methods of all services that the server offers.
absl::Span<const MethodRole> MethodRoles();

// What the method at `path` needs; nullptr for one that is not in the list, which nobody may call.
const MethodRole* RoleOfMethod(std::string_view path);

// Whether a caller of this role may call what needs that.
bool MayCall(db::Role role, Needs needs);

// The roles that may, for people: "viewer or operator".
std::string RolesThatMay(Needs needs);

}  // namespace meshwright::server
