// These functions find the gRPC method that a request in JSON calls, and convert the method's
// messages between their binary form and protobuf's JSON form. Field names are those of the .proto
// files; 64-bit integers are strings.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"

namespace meshwright::server {

// Returns the method of a path such as "/meshwright.v1.Planner/Recommend". Returns null if this
// program has no such method, or if the method takes a stream of requests.
const google::protobuf::MethodDescriptor* FindJsonMethod(std::string_view path);

// Returns the binary form of a message of `type`, which must be compiled into this program. Returns
// InvalidArgument if `json` is not JSON (base/text/json_text.h), has a field that `type` lacks, or
// has a value that its field can't have.
absl::StatusOr<std::string> BinaryOfJson(const google::protobuf::Descriptor& type,
                                         std::string_view json);

// Returns the JSON form in one line. It includes primitive and repeated fields that have their
// default values. Returns Internal if `bytes` is not a message of `type`.
absl::StatusOr<std::string> JsonOfBinary(const google::protobuf::Descriptor& type,
                                         const std::string& bytes);

}  // namespace meshwright::server
