// Finds the gRPC method that a request in JSON calls, and converts its messages between their
// binary form and protobuf's JSON form. Field names are those of the .proto files; 64-bit integers
// are strings.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"

namespace meshwright::server {

// Returns the method of a path such as "/meshwright.v1.Planner/Recommend". Returns null if this
// program has none, or none that one request can call.
const google::protobuf::MethodDescriptor* FindJsonMethod(std::string_view path);

// Returns the binary form of a message of `type`, one of this program's own. Returns
// InvalidArgument if `json` is not JSON (base/text/json_text.h), or has a field that the type has
// not or a value that the field can't have.
absl::StatusOr<std::string> BinaryOfJson(const google::protobuf::Descriptor& type,
                                         std::string_view json);

// Returns the JSON form, in one line, with the numbers, texts and lists that have their defaults.
// Returns Internal for bytes that are no message of `type`.
absl::StatusOr<std::string> JsonOfBinary(const google::protobuf::Descriptor& type,
                                         const std::string& bytes);

}  // namespace meshwright::server
