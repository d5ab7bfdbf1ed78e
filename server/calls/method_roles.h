// The only list of which role each method requires.
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

// Returns all methods of all services that the server offers.
absl::Span<const MethodRole> MethodRoles();

// Returns the entry of the method at `path`; nullptr for a method that is not listed, which nobody
// may call.
const MethodRole* RoleOfMethod(std::string_view path);

// Returns whether a caller of `role` may call a method that needs `needs`.
bool MayCall(db::Role role, Needs needs);

// Returns the roles that may call it, for messages: "viewer or operator".
std::string RolesThatMay(Needs needs);

}  // namespace meshwright::server
