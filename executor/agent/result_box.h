// Results that no server has acknowledged yet.
//
// With a folder, each is a file there, and on the disk with its name, before Add() returns, so that
// a result outlives the agent and its machine's power; a later agent finds it and delivers it to
// the store it came from. Not thread-safe.
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

// Identities of stores come from servers and become parts of file names.
bool IsStoreId(std::string_view id);

struct KeptResult {
  std::string store_id;  // of the server that gave out the attempt
  wire::AttemptKey key;
  std::string token = {};  // of the attempt's assignment; empty in what earlier releases kept
  trial::TrialResult result = {};
};

class ResultBox {
 public:
  // An empty `folder` keeps results in memory only. Files that are not results of some store are
  // left alone.
  static absl::StatusOr<ResultBox> Open(const std::string& folder);

  // Keeps the result in memory even when the folder can't be written, and says so.
  absl::Status Add(const KeptResult& kept);
  // Whether a result that is still there could not be written.
  bool has_unwritten() const { return !unwritten_.empty(); }
  // Tries again to write all of those.
  absl::Status WriteUnwritten();
  void Remove(const std::string& store_id, const wire::AttemptKey& key);
  const std::vector<KeptResult>& kept() const { return kept_; }

 private:
  explicit ResultBox(std::string folder) : folder_(std::move(folder)) {}
  // Inside the folder, whatever the names are.
  std::string PathOf(const std::string& store_id, const wire::AttemptKey& key) const;

  absl::Status Write(const KeptResult& kept) const;

  std::string folder_;
  std::vector<KeptResult> kept_;
  std::set<std::string> unwritten_;  // paths
};

}  // namespace meshwright::agent
