// Checks every call to a port with credentials before any service sees it: who calls, whether they
// may, and how often they did.
//
// gRPC asks on threads of its own, and keeps whom it asks for as long as it likes. Callers may rely
// on: once Close() has returned, nothing of the server is asked any more.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/security/auth_context.h"
#include "grpcpp/security/auth_metadata_processor.h"
#include "grpcpp/support/status.h"
#include "server/calls/access.h"
#include "server/calls/call_rates.h"

namespace meshwright::server {

class CallChecker final : public grpc::AuthMetadataProcessor {
 public:
  // Both outlive the return of Close().
  CallChecker(const Access* access, CallRates* rates) : access_(access), rates_(rates) {}

  // Unauthenticated, PermissionDenied and Unimplemented as Access::Check() says, ResourceExhausted
  // as CallRates::Take(); Unavailable once it is closed.
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* connection,
                       OutputMetadata* consumed, OutputMetadata* response) override;

  // Waits for calls that are being checked; lets none in afterwards.
  void Close();

 private:
  absl::Mutex mutex_;                             // calls are checked side by side, as its readers
  const Access* access_ ABSL_GUARDED_BY(mutex_);  // null: closed
  CallRates* const rates_;
};

}  // namespace meshwright::server
