#include "tools/cli/serve/prepare_server.h"

#include <string>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/system/descriptors.h"
#include "executor/trial/worker_version.h"
#include "planner/search/search_run.h"
#include "tools/cli/io/grpc_log.h"

namespace meshwright::cli {

server::ServerOptions PrepareServer(const CommandContext& context, const LogFunction& log) {
  QuietGrpcLog();
  // Debian's Abseil searches for lock cycles at every lock, which only tests need.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  RaiseDescriptorLimit();
  server::ServerOptions options;
  options.host_cores = context.host_cores;
  options.search_cores = planner::ThreadsOfThisMachine();
  options.version = std::string(trial::WorkerVersion());
  options.clock = absl::Now;
  options.log = log;
  return options;
}

}  // namespace meshwright::cli
