// StopRequest tells a long-running command whether a signal requested its end, and which signal.
// Ctrl-C (SIGINT), SIGTERM, a closing terminal (SIGHUP) and SIGQUIT each request an orderly end of
// the command and its child processes.
#pragma once

#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Once a StopRequest exists, these signals set StopRequested(). Before that, and in commands
// without a StopRequest, they end the process. If a command's context.interrupted refers to another
// variable, only that variable stops the command; signals of the process do not.
class StopRequest {
 public:
  explicit StopRequest(const CommandContext& context);

  bool Requested() const { return context_.interrupted.load(); }
  // Returns the exit code of a command that was stopped before it was done: 128 plus the number of
  // the signal that came first.
  int exit_code() const;
  // Returns whether SIGTERM came first. For a service, SIGTERM is the regular end.
  bool Terminated() const;

 private:
  const CommandContext& context_;
};

// Ends a command that has a StopRequest: unless `status` is OK, reports the error and sets the exit
// code. If `status` is Cancelled, the exit code is that of the signal.
void Finish(CommandContext& context, OutputFormat format, const absl::Status& status);

// Returns the variable that the signals set. `interrupted` of the binary's context refers to it.
const std::atomic<bool>& StopRequested();

}  // namespace meshwright::cli
