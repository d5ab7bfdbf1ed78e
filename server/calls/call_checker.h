// CallChecker checks every call to a port with credentials before a service sees it: who calls,
// whether they may, and how often they call.
//
// gRPC runs it on threads of gRPC's own and keeps it alive for as long as it likes. Callers may
// rely on: after Close() has returned, it uses no other object of the server.
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

  // Returns the statuses of Access::Check() (Unauthenticated, PermissionDenied, Unimplemented),
  // ResourceExhausted as CallRates::Take() does, and Unavailable after Close().
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* connection,
                       OutputMetadata* consumed, OutputMetadata* response) override;

  // Waits for the checks that are running; refuses all later calls.
  void Close();

 private:
  absl::Mutex mutex_;  // checks hold it as readers, so that they run in parallel
  const Access* access_ ABSL_GUARDED_BY(mutex_);  // null after Close()
  CallRates* const rates_;
};

}  // namespace meshwright::server
