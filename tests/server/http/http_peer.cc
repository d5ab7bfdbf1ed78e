#include "tests/server/http/http_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "gtest/gtest.h"

namespace meshwright::server {

HttpPeer::HttpPeer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}

void HttpPeer::Connect(const HostPort& server) const { EXPECT_TRUE(TryConnect(server)); }

bool HttpPeer::TryConnect(const HostPort& server) const {
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<uint16_t>(server.port));
  inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
  if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) {
    return false;
  }
  const timeval limit = {.tv_sec = 5, .tv_usec = 0};
  return setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0;
}

bool HttpPeer::Send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::string HttpPeer::ReadAll() const { return ReadUntil(""); }

std::string HttpPeer::ReadSome() const {
  char buffer[16384];
  const ssize_t read = recv(socket_.get(), buffer, sizeof buffer, 0);
  return read > 0 ? std::string(buffer, static_cast<size_t>(read)) : "";
}

std::string HttpPeer::ReadUntil(std::string_view end) const {
  std::string answer;
  for (std::string more = ReadSome(); !more.empty(); more = ReadSome()) {
    answer += more;
    if (!end.empty() && answer.find(end) != std::string::npos) break;
  }
  return answer;
}

std::string Exchange(const HostPort& server, std::string_view request) {
  const HttpPeer peer(server);
  peer.Send(request);
  return peer.ReadAll();
}

}  // namespace meshwright::server
