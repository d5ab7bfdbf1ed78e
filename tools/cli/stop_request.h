// Whether a long-running command was asked to stop, and how.
#pragma once

#include "tools/cli/context.h"

namespace meshwright {

// Takes SIGTERM from its construction on; SIGINT comes through the context.
class StopRequest {
 public:
  explicit StopRequest(const CommandContext& context);

  bool Requested() const { return Interrupted() || Terminated(); }
  bool Interrupted() const { return context_.interrupted.load(); }
  bool Terminated() const;

 private:
  const CommandContext& context_;
};

}  // namespace meshwright
