// absl::Status on one side of a call, grpc::Status on the other: same code, same message, and the
// field violations in between.
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

// With violations the status carries a google.rpc.BadRequest in its details.
grpc::Status ToGrpcStatus(const absl::Status& status,
                          const std::vector<FieldViolation>& violations = {});
// What gRPC says in its own words of a message that is too long is said in ours.
absl::Status FromGrpcStatus(const grpc::Status& status);

// Violations in the details of `status`, empty where there are none.
std::vector<FieldViolation> FieldViolationsOf(const grpc::Status& status);

}  // namespace meshwright
