// One rank's process as its group sees it: a worker that was started here, or one on another host
// of which is heard.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/trial/rank_record.h"

namespace meshwright::trial {

class RankProcess {
 public:
  virtual ~RankProcess() = default;

  // Adds those that become ready when there is something to take in.
  virtual void AddDescriptors(std::vector<pollfd>& descriptors) const = 0;

  // Looks, without waiting, whether it has ended; true from then on. What it told until then can
  // still be read.
  virtual bool TryReap() = 0;
  // Reads what is there. Returns complete lines.
  virtual std::vector<std::string> ReadEvents() = 0;
  virtual void ReadOutput() = 0;
  // The last of what it wrote to standard output and error.
  virtual const std::string& output_tail() const = 0;

  virtual void Kill() = 0;
  // Kills it where it still runs and waits for its end, for `limit` at the most. False where it is
  // known to be left, as pid().
  virtual bool End(std::chrono::milliseconds limit) = 0;
  virtual bool ended() const = 0;
  virtual pid_t pid() const = 0;
  // Takes how it ended into `record`. Requires that it has.
  virtual void TellEnd(RankRecord& record) const = 0;

  // How far the clock of the times that it tells is ahead of this host's.
  virtual double clock_ahead_s() const { return 0.0; }
};

// A rank and the process that runs it.
struct StartedRank {
  int32_t rank = 0;
  std::unique_ptr<RankProcess> process;
};

}  // namespace meshwright::trial
