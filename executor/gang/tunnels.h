// Tunnels joins pairs of connections: each connection of a pair receives what arrives on the other.
// One is plain and stays on this host, the other is encrypted.
//
// Buffers are bounded, so a fast sender waits for a slow receiver (back-pressure). If one end stops
// sending, the other end is told and may go on sending. If one end fails, both are closed.
#pragma once

#include <poll.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/system/unique_fd.h"
#include "executor/gang/tls_socket.h"

namespace meshwright::gang {

struct TunnelEnds {
  UniqueFd near;  // non-blocking
  TlsSocket far;  // authenticated
};

class Tunnels {
 public:
  void Add(TunnelEnds ends);

  // Adds the descriptors and events to poll for.
  void AddDescriptors(std::vector<pollfd>& descriptors) const;
  // Moves bytes as far as possible without blocking, and drops tunnels that have ended.
  void Pump();

  size_t size() const { return tunnels_.size(); }

 private:
  // One direction.
  struct Stream {
    std::string held = {};    // bytes that were read and not written yet
    bool ended = false;       // the sender will send nothing more
    bool told_ended = false;  // the receiver was told of the end
  };
  struct Tunnel {
    TunnelEnds ends;
    Stream to_far;
    Stream to_near;
  };

  static short WantedEvents(const Stream& from, const Stream& to);
  // Returns false if one end has failed.
  template <typename From, typename To>
  static bool Move(From& from, To& to, Stream& stream);

  std::vector<Tunnel> tunnels_;
};

}  // namespace meshwright::gang
