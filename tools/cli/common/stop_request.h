// StopRequest tells a long-running command whether it was asked to stop, and how: Ctrl-C (SIGINT)
// and SIGTERM both request an orderly end.
#pragma once

#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Handles both signals from its construction on, and sets context.interrupted; before, and in
// commands without a StopRequest, they end the process.
class StopRequest {
 public:
  explicit StopRequest(const CommandContext& context);

  bool Requested() const { return context_.interrupted.load(); }
  // Returns the exit code of a command that was stopped before it was done.
  int exit_code() const { return Terminated() ? kExitTerminated : kExitInterrupted; }
  bool Terminated() const;

 private:
  const CommandContext& context_;
};

// Reports how a command with a StopRequest ended, unless it ended well, and sets the exit code: the
// signal's where it was cancelled.
void Finish(CommandContext& context, OutputFormat format, const absl::Status& status);

// Returns what `interrupted` of the binary's context refers to.
const std::atomic<bool>& StopRequested();

}  // namespace meshwright::cli
