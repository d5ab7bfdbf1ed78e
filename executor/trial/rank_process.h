// RankProcess is one rank's process as its group sees it: a local worker, or one on another host
// whose events are forwarded.
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

  // Adds descriptors that become ready when there is something to read.
  virtual void AddDescriptors(std::vector<pollfd>& descriptors) const = 0;

  // Checks without waiting whether the process has ended; true from then on. What it wrote before
  // can still be read.
  virtual bool TryReap() = 0;
  // Reads what is available and returns complete lines.
  virtual std::vector<std::string> ReadEvents() = 0;
  virtual void ReadOutput() = 0;
  // Returns the tail of its standard output and error.
  virtual const std::string& output_tail() const = 0;

  virtual void Kill() = 0;
  // Kills the process if it still runs and waits at most `limit` for its end. Returns false where
  // it is known to run on, as process pid().
  virtual bool End(std::chrono::milliseconds limit) = 0;
  virtual bool ended() const = 0;
  virtual pid_t pid() const = 0;
  // Records how it ended. REQUIRES: ended().
  virtual void TellEnd(RankRecord& record) const = 0;

  // Returns by how many seconds the clock of its reported times is ahead of this host's.
  virtual double clock_ahead_s() const { return 0.0; }
};

// A rank and the process that runs it.
struct StartedRank {
  int32_t rank = 0;
  std::unique_ptr<RankProcess> process;
};

}  // namespace meshwright::trial
