#include "tools/cli/common/stop_request.h"

#include <signal.h>

#include <atomic>

namespace meshwright::cli {
namespace {

std::atomic<bool> requested{false};
std::atomic<int> first_signal{0};

void OnStop(int signal) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
  requested.store(true);
}

}  // namespace

StopRequest::StopRequest(const CommandContext& context) : context_(context) {
  if (&context.interrupted != &requested) return;
  struct sigaction action = {};
  action.sa_handler = OnStop;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    // Whoever ignores a signal for this process, as nohup does, means it.
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

bool StopRequest::Terminated() const { return first_signal.load() == SIGTERM; }

int StopRequest::exit_code() const {
  const int signal = first_signal.load();
  return signal == 0 ? kExitInterrupted : 128 + signal;
}

const std::atomic<bool>& StopRequested() { return requested; }

void Finish(CommandContext& context, OutputFormat format, const absl::Status& status) {
  if (status.ok()) return;
  context.exit_code = ReportError(context, format, status);
  if (absl::IsCancelled(status)) context.exit_code = StopRequest(context).exit_code();
}

}  // namespace meshwright::cli
