// KnownEpochs remembers, for each store, the highest epoch of the servers that the agent met, and
// where. A server of a lower epoch decides no longer, because a standby took over from it.
//
// With a file, a later process of the agent remembers too. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace meshwright::agent {

struct KnownEpoch {
  std::string store_id;
  int64_t epoch = 0;    // 0: no server of this store was met
  std::string address;  // of the server that was met
};

class KnownEpochs {
 public:
  // Reads the file, whose lines that can't be read are ignored. With an empty path, epochs are
  // remembered in memory only.
  explicit KnownEpochs(std::string path = "");

  KnownEpoch Of(const std::string& store_id) const;
  // Remembers the epoch if it is not lower than the known one. Forgets the store that was met least
  // recently if there are more than 64. Returns Unavailable if the file can't be written; the epoch
  // is then remembered in memory.
  absl::Status Note(const KnownEpoch& met);
  // Lists the stores, the one that was met last at the end.
  const std::vector<KnownEpoch>& all() const { return all_; }

 private:
  std::string path_;
  std::vector<KnownEpoch> all_;
};

}  // namespace meshwright::agent
