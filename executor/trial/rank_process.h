// RankProcess is the interface through which the process of one rank, or of all ranks of a node, is
// read and ended. The process runs on this host, or on another one that forwards its events.
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

  // Returns whether the process has ended, without waiting. Its last output can still be read.
  virtual bool TryReap() = 0;
  // Reads the events that are available and returns a worker's complete lines, or pieces of a
  // command's output.
  virtual std::vector<std::string> ReadEvents() = 0;
  // Reads the available standard output and error.
  virtual void ReadOutput() = 0;
  // Returns the tail of the standard output and error read so far.
  virtual const std::string& output_tail() const = 0;

  virtual void Kill() = 0;
  // Kills the process if it still runs, and waits at most `limit` for its end. Returns false if the
  // process is known to still run; pid() is then its process id.
  virtual bool End(std::chrono::milliseconds limit) = 0;
  virtual bool ended() const = 0;
  virtual pid_t pid() const = 0;
  // Records how the process ended. REQUIRES: ended().
  virtual void TellEnd(RankRecord& record) const = 0;

  // Returns by how many seconds the clock of the process's host is ahead of this host's.
  virtual double clock_ahead_s() const { return 0.0; }
};

// LocalProcess is a RankProcess of this host.
class LocalProcess : public RankProcess {
 public:
  // Returns how it ended, as a status from waitpid(). Valid once ended().
  virtual int wait_status() const = 0;
};

// A rank and the process that runs it.
struct StartedRank {
  int32_t rank = 0;
  std::unique_ptr<RankProcess> process;
};

}  // namespace meshwright::trial
