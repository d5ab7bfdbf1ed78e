// RecordingProxy hands on what comes to an address of its own to another address, and keeps a copy
// of every byte.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "executor/gang/listener.h"
#include "executor/gang/socket_address.h"
#include "tests/executor/gang/socket_pair.h"

namespace meshwright::gang {

class RecordingProxy {
 public:
  explicit RecordingProxy(const std::string& target)
      : target_(ResolveHostPort(target).value()), thread_([this] { Loop(); }) {}
  ~RecordingProxy() {
    ends_ = true;
    thread_.join();
  }

  std::string rendezvous() const { return listener_->rendezvous(); }
  // From now on, the last bit of what is handed on is turned over.
  void Forge() { forges_ = true; }
  // Returns what dialers have sent.
  std::string sent() const {
    const absl::MutexLock lock(&mutex_);
    return sent_;
  }
  // Returns what dialers have been answered.
  std::string answered() const {
    const absl::MutexLock lock(&mutex_);
    return answered_;
  }

 private:
  struct Connection {
    UniqueFd dialer;
    UniqueFd target;
  };

  void Loop() {
    std::vector<Connection> connections;
    while (!ends_) {
      std::vector<pollfd> descriptors = {
          {.fd = listener_->socket(), .events = POLLIN, .revents = 0}};
      for (const Connection& connection : connections) {
        descriptors.push_back({.fd = connection.dialer.get(), .events = POLLIN, .revents = 0});
        descriptors.push_back({.fd = connection.target.get(), .events = POLLIN, .revents = 0});
      }
      ::poll(descriptors.data(), descriptors.size(), /*timeout=*/20);
      std::erase_if(connections, [this](const Connection& connection) {
        return !HandOn(connection.dialer, connection.target, sent_) ||
               !HandOn(connection.target, connection.dialer, answered_);
      });
      while (true) {
        UniqueFd dialer = Accept(listener_->socket());
        if (!dialer.is_open()) break;
        connections.push_back({std::move(dialer), DialPlain(target_)});
      }
    }
  }

  // Returns false once one end is over.
  bool HandOn(const UniqueFd& from, const UniqueFd& to, std::string& record) {
    std::array<char, 65536> buffer;
    while (true) {
      const ssize_t n = ::recv(from.get(), buffer.data(), buffer.size(), 0);
      if (n < 0 && IsForLater(errno)) return true;
      if (n <= 0) return false;
      {
        const absl::MutexLock lock(&mutex_);
        record.append(buffer.data(), static_cast<size_t>(n));
      }
      if (forges_) buffer[static_cast<size_t>(n) - 1] ^= 1;
      for (ssize_t handed = 0; handed < n;) {
        const ssize_t some = ::send(to.get(), &buffer[static_cast<size_t>(handed)],
                                    static_cast<size_t>(n - handed), MSG_NOSIGNAL);
        if (some < 0 && !IsForLater(errno)) return false;
        handed += some < 0 ? 0 : some;
      }
    }
  }

  const SocketAddress target_;
  const std::shared_ptr<Listener> listener_ = Listener::Open("127.0.0.1").value();
  std::atomic<bool> ends_ = false;
  std::atomic<bool> forges_ = false;
  mutable absl::Mutex mutex_;
  std::string sent_;      // written by the thread alone, under the mutex
  std::string answered_;  // as sent_
  std::thread thread_;
};

}  // namespace meshwright::gang
