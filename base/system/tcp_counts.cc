#include "base/system/tcp_counts.h"

#include <linux/tcp.h>  // glibc's struct lacks the counts
#include <netinet/in.h>
#include <sys/socket.h>

namespace meshwright {
namespace {

// Linux's states of a TCP socket, which <linux/tcp.h> does not name.
constexpr uint8_t kEstablished = 1;
constexpr uint8_t kCloseWait = 8;

}  // namespace

TcpCounts CountsOf(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return {.received_bytes = static_cast<int64_t>(info.tcpi_bytes_received),
          .acknowledged_bytes = static_cast<int64_t>(info.tcpi_bytes_acked),
          .is_open = info.tcpi_state == kEstablished || info.tcpi_state == kCloseWait};
}

}  // namespace meshwright
