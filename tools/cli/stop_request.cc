#include "tools/cli/stop_request.h"

#include <signal.h>

#include <atomic>

namespace meshwright {
namespace {

std::atomic<bool> terminated{false};

void OnTerminate(int) { terminated.store(true); }

}  // namespace

StopRequest::StopRequest(const CommandContext& context) : context_(context) {
  struct sigaction action = {};
  action.sa_handler = OnTerminate;
  sigaction(SIGTERM, &action, nullptr);
}

bool StopRequest::Terminated() const { return terminated.load(); }

}  // namespace meshwright
