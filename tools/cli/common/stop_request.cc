#include "tools/cli/common/stop_request.h"

#include <signal.h>

#include <atomic>

namespace meshwright::cli {
namespace {

std::atomic<bool> requested{false};
std::atomic<bool> terminated{false};

void OnStop(int signal) {
  if (signal == SIGTERM) terminated.store(true);
  requested.store(true);
}

}  // namespace

StopRequest::StopRequest(const CommandContext& context) : context_(context) {
  struct sigaction action = {};
  action.sa_handler = OnStop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool StopRequest::Terminated() const { return terminated.load(); }

const std::atomic<bool>& StopRequested() { return requested; }

void Finish(CommandContext& context, OutputFormat format, const absl::Status& status) {
  if (status.ok()) return;
  context.exit_code = ReportError(context, format, status);
  if (absl::IsCancelled(status)) context.exit_code = StopRequest(context).exit_code();
}

}  // namespace meshwright::cli
