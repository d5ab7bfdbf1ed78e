// HttpPeer is a client on the loopback interface that sends the bytes that a test chooses.
#pragma once

#include <string>
#include <string_view>

#include "base/system/host_port.h"
#include "base/system/unique_fd.h"

namespace meshwright::server {

class HttpPeer {
 public:
  // Opens a socket that is not connected yet.
  HttpPeer();
  explicit HttpPeer(const HostPort& server) : HttpPeer() { Connect(server); }

  void Connect(const HostPort& server) const;
  // Returns whether the server took the connection.
  bool TryConnect(const HostPort& server) const;

  // Returns whether all bytes were sent.
  bool Send(std::string_view bytes) const;
  int descriptor() const { return socket_.get(); }
  // Returns the bytes that arrive next; empty if the server closes the connection or sends nothing
  // for 5 s.
  std::string ReadSome() const;
  // Returns the bytes that arrive until the server closes the connection or sends nothing for 5 s.
  std::string ReadAll() const;
  // Returns the bytes that arrive up to and including `end`, or fewer for the reasons of ReadAll().
  std::string ReadUntil(std::string_view end) const;

 private:
  UniqueFd socket_;
};

// Sends one request on a connection of its own and returns the server's whole answer.
std::string Exchange(const HostPort& server, std::string_view request);

}  // namespace meshwright::server
