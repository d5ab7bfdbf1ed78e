// A Session records the process that opened it, and the default arguments of its requests.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::library {

struct Session {
  nlohmann::ordered_json arguments = nlohmann::ordered_json::object();
  pid_t process = 0;       // the one that opened the session
  int32_t host_cores = 1;  // physical cores of this machine
  std::string binary_dir;  // folder of the program `meshwright` and of the worker
};

// Opens a session of this process. `arguments` is a JSON object.
absl::StatusOr<std::shared_ptr<const Session>> OpenSession(std::string_view arguments);

// Returns FailedPrecondition if `process`, which opened a session or started a task, is not this
// one.
absl::Status CheckOwnProcess(pid_t process);

// Returns OK if this process may call a server. Returns FailedPrecondition if it was forked from a
// process that has called one.
absl::Status CheckMayCallServer();

}  // namespace meshwright::library
