// ToGrpcStatus() and FromGrpcStatus() convert between absl::Status and grpc::Status, with the same
// code and message. Field violations are in the details of the grpc::Status.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace meshwright {

struct FieldViolation {
  std::string field;        // path in the request, such as "global_batch"
  std::string description;  // what would be accepted

  friend bool operator==(const FieldViolation&, const FieldViolation&) = default;
};

// If there are violations, the status has a google.rpc.BadRequest in its details.
grpc::Status ToGrpcStatus(const absl::Status& status,
                          const std::vector<FieldViolation>& violations = {});
// If gRPC refused a message as too long, replaces gRPC's error text by this project's own.
absl::Status FromGrpcStatus(const grpc::Status& status);

// Returns the violations in the details of `status`; empty if there are none.
std::vector<FieldViolation> FieldViolationsOf(const grpc::Status& status);

}  // namespace meshwright
