// Herald tells servers of earlier epochs that a standby took over, so that a first server that
// comes back decides nothing.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "base/system/log.h"
#include "db/standby_copy.h"
#include "proto/server_access.h"

namespace meshwright::server {

class Herald {
 public:
  // Tells `servers` of `own`, the server at `address`: once before the constructor returns, for at
  // most a second each, and then every second.
  Herald(std::vector<ServerAccess> servers, db::StoreIdentity own, std::string address,
         LogFunction log);
  ~Herald();

 private:
  void Tell(const ServerAccess& server);
  void Run();

  const std::vector<ServerAccess> servers_;
  const db::StoreIdentity own_;
  const std::string address_;
  const LogFunction log_;  // may be empty
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stops_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace meshwright::server
