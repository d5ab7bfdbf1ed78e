// TcpCounts says how many bytes a connected TCP socket has received and sent so far, through any of
// its descriptors.
#pragma once

#include <cstdint>

namespace meshwright {

struct TcpCounts {
  int64_t received_bytes = 0;
  int64_t acknowledged_bytes = 0;  // bytes that were sent and acknowledged by the peer
  bool is_open = false;            // neither its owner nor the network has ended the connection
};

// Returns the counts of `socket`. For a descriptor that is no TCP socket, all counts are 0 and
// `is_open` is false.
TcpCounts CountsOf(int socket);

}  // namespace meshwright
