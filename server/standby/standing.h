// Standing says who decides about a store, who follows, and how far a standby is behind.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "executor/wire/attempt_key.h"

namespace meshwright::server {

// How far a copy is behind the server that it follows.
struct StandbyLag {
  std::string name = {};   // of the standby
  bool connected = false;  // whether its stream is open
  bool complete = false;   // whether its copy was ever complete
  int64_t transactions = 0;
  int64_t bytes = 0;
  absl::Duration time = absl::ZeroDuration();  // since it lacked nothing
};

// A result that a server of an earlier epoch acknowledged and that this server lacked when the
// agent connected.
struct MissingResult {
  wire::AttemptKey key;
  std::string agent;
  int64_t acknowledged_epoch = 0;
};

struct Standing {
  bool is_standby = false;
  std::string store_id = {};                     // empty while a standby has no copy
  int64_t epoch = 0;                             // 0 while a standby has no copy
  std::string follows = {};                      // HOST:PORT; empty for a server that decides
  std::optional<StandbyLag> lag = std::nullopt;  // of a standby
  std::vector<StandbyLag> standbys = {};         // of a server that decides
  std::vector<MissingResult> missing = {};
};

}  // namespace meshwright::server
