// MethodRoles() lists all methods with the role that each requires. There is no other such list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "db/token.h"

namespace meshwright::server {

enum class Needs : uint8_t {
  kNothing,  // anybody who reaches the port
  kViewer,   // a viewer or an operator
  kOperator,
  kAgent
};

struct MethodRole {
  std::string_view path;  // "/package.Service/Method"
  Needs needs;
};

// Returns all methods of all services that the server offers.
absl::Span<const MethodRole> MethodRoles();

// Returns the entry of the method at `path`, or nullptr if the method is not listed. Nobody may
// call an unlisted method.
const MethodRole* RoleOfMethod(std::string_view path);

// Returns whether a caller of `role` may call a method that needs `needs`.
bool MayCall(db::Role role, Needs needs);

// Returns the roles that may call a method that needs `needs`, for messages: "viewer or operator".
std::string RolesThatMay(Needs needs);

}  // namespace meshwright::server
