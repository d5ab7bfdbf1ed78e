// What a connected TCP socket has received and sent so far, whoever reads and writes it.
#pragma once

#include <cstdint>

namespace meshwright {

struct TcpCounts {
  int64_t received_bytes = 0;
  int64_t acknowledged_bytes = 0;  // sent, and received by the peer
  bool is_open = false;            // neither its owner nor the network has ended the connection
};

// Returns the counts of `socket`; those of a descriptor that is no TCP socket are 0 and not open.
TcpCounts CountsOf(int socket);

}  // namespace meshwright
