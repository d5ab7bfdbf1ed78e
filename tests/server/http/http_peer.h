// HttpPeer is a client that sends bytes as a test wants them, on the loopback interface.
#pragma once

#include <string>
#include <string_view>

#include "base/system/host_port.h"
#include "base/system/unique_fd.h"

namespace meshwright::server {

class HttpPeer {
 public:
  // Has a socket that is not connected yet.
  HttpPeer();
  explicit HttpPeer(const HostPort& server) : HttpPeer() { Connect(server); }

  void Connect(const HostPort& server) const;

  // Returns whether all of it was taken.
  bool Send(std::string_view bytes) const;
  // Returns what arrives until the server closes the connection, or nothing arrives for 5 s.
  std::string ReadAll() const;
  // Returns what arrives until `end` was read, or as above.
  std::string ReadUntil(std::string_view end) const;

 private:
  UniqueFd socket_;
};

// Sends one request on a connection of its own and returns all that the server answers.
std::string Exchange(const HostPort& server, std::string_view request);

}  // namespace meshwright::server
