// Pairs of connections of which each gets what the other sends.
//
// Buffers are bounded: who sends faster than the other end reads has to wait. Where one end has
// said all, the other is told so and may go on; where one fails, both are closed.
#pragma once

#include <poll.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/system/unique_fd.h"

namespace meshwright::gang {

// Of sockets in which nothing waits.
struct TunnelEnds {
  UniqueFd near;
  UniqueFd far;
};

class Tunnels {
 public:
  void Add(TunnelEnds ends);

  // Adds what there is to wait for.
  void AddDescriptors(std::vector<pollfd>& descriptors) const;
  // Moves what can be moved without waiting, and lets go of tunnels that have ended.
  void Pump();

  size_t size() const { return tunnels_.size(); }

 private:
  // Bytes of one direction.
  struct Stream {
    std::string held = {};    // read, and not written yet
    bool ended = false;       // nothing more comes
    bool told_ended = false;  // which the receiver knows
  };
  struct Tunnel {
    TunnelEnds ends;
    Stream to_far;
    Stream to_near;
  };

  static short WantedEvents(const Stream& from, const Stream& to);
  // False where one end has failed.
  static bool Move(int from, int to, Stream& stream);

  std::vector<Tunnel> tunnels_;
};

}  // namespace meshwright::gang
