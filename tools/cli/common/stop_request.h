// Whether a long-running command was asked to stop, and how: Ctrl-C (SIGINT) and SIGTERM ask for
// the same orderly end.
#pragma once

#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Takes both signals from its construction on; before, and in commands that have none, they end the
// process. Turns context.interrupted true.
class StopRequest {
 public:
  explicit StopRequest(const CommandContext& context);

  bool Requested() const { return context_.interrupted.load(); }
  // Of a command that was stopped before it was done.
  int exit_code() const { return Terminated() ? kExitTerminated : kExitInterrupted; }
  bool Terminated() const;

 private:
  const CommandContext& context_;
};

// Reports how a command that StopRequest can stop ended, unless it ended well, and sets the exit
// code: that of the signal where it was cancelled.
void Finish(CommandContext& context, OutputFormat format, const absl::Status& status);

// What `interrupted` of the binary's context refers to.
const std::atomic<bool>& StopRequested();

}  // namespace meshwright::cli
