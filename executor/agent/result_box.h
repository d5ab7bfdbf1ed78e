// ResultBox keeps results that no server has acknowledged yet.
//
// With a folder, each result is a file that is on disk, with its directory entry, before Add()
// returns: it survives the agent and a power failure, and a later agent delivers it to the store it
// came from. Not thread-safe.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/trial/trial.h"
#include "executor/wire/attempt_key.h"

namespace meshwright::agent {

// Whether `id` is safe as part of a file name: store identities come from servers.
bool IsStoreId(std::string_view id);

struct KeptResult {
  std::string store_id;  // of the server that assigned the attempt
  wire::AttemptKey key;
  std::string token = {};  // of the attempt's assignment; empty in results kept by earlier releases
  trial::TrialResult result = {};
};

class ResultBox {
 public:
  // An empty `folder` keeps results in memory only. Other files in the folder are left alone.
  static absl::StatusOr<ResultBox> Open(const std::string& folder);

  // Keeps the result in memory even where the folder can't be written, and returns that error.
  absl::Status Add(const KeptResult& kept);
  // Whether a kept result could not be written.
  bool has_unwritten() const { return !unwritten_.empty(); }
  // Retries all of those.
  absl::Status WriteUnwritten();
  void Remove(const std::string& store_id, const wire::AttemptKey& key);
  const std::vector<KeptResult>& kept() const { return kept_; }

 private:
  explicit ResultBox(std::string folder) : folder_(std::move(folder)) {}
  // Returns a path inside the folder, whatever the names are.
  std::string PathOf(const std::string& store_id, const wire::AttemptKey& key) const;

  absl::Status Write(const KeptResult& kept) const;

  std::string folder_;
  std::vector<KeptResult> kept_;
  std::set<std::string> unwritten_;  // paths
};

}  // namespace meshwright::agent
