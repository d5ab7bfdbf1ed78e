// CallChecker checks every call to a TLS port before a service sees it: who calls, whether they may
// call the method, and whether they call too often.
//
// gRPC runs the checker on gRPC's threads and decides when to destroy it. Callers may rely on: once
// Close() has returned, the checker uses no other object of the server.
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
  // REQUIRES: `access` and `rates` outlive the return of Close().
  CallChecker(const Access* access, CallRates* rates) : access_(access), rates_(rates) {}

  // Returns the errors of Access::Check() (Unauthenticated, Unavailable, PermissionDenied,
  // Unimplemented) and of CallRates::Take() (ResourceExhausted), and Unavailable after Close().
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* connection,
                       OutputMetadata* consumed, OutputMetadata* response) override;

  // Waits for the checks that are running, and refuses all later calls.
  void Close();

 private:
  absl::Mutex mutex_;  // checks hold it as readers, so that they run in parallel
  const Access* access_ ABSL_GUARDED_BY(mutex_);  // null after Close()
  CallRates* const rates_;
};

}  // namespace meshwright::server
