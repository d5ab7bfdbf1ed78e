// ResultBox keeps results that no server has acknowledged yet, and for a while acknowledged results
// that a standby may lack.
//
// With a folder, Add() writes each result to a file and syncs the file and its directory entry. The
// result then survives the agent's end and a power failure, and a later agent can deliver it to the
// store that assigned its attempt. Not thread-safe.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/system/monotonic_time.h"
#include "executor/trial/trial.h"
#include "executor/wire/attempt_key.h"

namespace meshwright::agent {

// Returns whether `id` has 1 to 64 hexadecimal digits. A store's identity comes from a server and
// becomes part of file names.
bool IsStoreId(std::string_view id);

struct KeptResult {
  std::string store_id;  // of the server that assigned the attempt
  wire::AttemptKey key;
  std::string token = {};  // of the attempt's assignment; empty in results kept by earlier releases
  trial::TrialResult result = {};
  int64_t acknowledged_epoch = 0;  // of the server that acknowledged it; 0 if none did
  MonotonicTime forget_time = MonotonicTime::Never();  // of an acknowledged result
};

class ResultBox {
 public:
  // Opens `folder`, creating it if needed, and reads the results kept in it. Other files in the
  // folder are left alone. With an empty `folder`, results are kept in memory only.
  static absl::StatusOr<ResultBox> Open(const std::string& folder);

  // Keeps the result. If its file can't be written, keeps it in memory and returns the error.
  absl::Status Add(const KeptResult& kept);
  // Writes the result of an attempt before its processes have ended, so that the result survives
  // the agent's end. It is not in kept() until Add() keeps it or a later Open() reads it. Add() and
  // Remove() replace and delete its file.
  absl::Status WriteAhead(const KeptResult& result) const;
  // Returns whether a kept result could not be written.
  bool has_unwritten() const { return !unwritten_.empty(); }
  // Retries writing all results that could not be written. Returns the first error.
  absl::Status WriteUnwritten();
  void Remove(const std::string& store_id, const wire::AttemptKey& key);
  const std::vector<KeptResult>& kept() const { return kept_; }

  // Moves a kept result to acknowledged(), until `forget_time`. A later process finds it there too.
  void Acknowledge(const std::string& store_id, const wire::AttemptKey& key, int64_t epoch,
                   MonotonicTime forget_time);
  // Moves the acknowledged results of earlier epochs of this store back to kept().
  void KeepAgain(const std::string& store_id, int64_t epoch);
  // Sets the time after which the acknowledged results that Open() read are forgotten.
  void ForgetAfter(MonotonicTime forget_time);
  // Forgets acknowledged results whose time has come.
  void Forget(MonotonicTime now);
  const std::vector<KeptResult>& acknowledged() const { return acknowledged_; }

 private:
  explicit ResultBox(std::string folder) : folder_(std::move(folder)) {}
  // Returns the path of the result's file. Even a malicious name gives a path inside the folder.
  std::string PathOf(const std::string& store_id, const wire::AttemptKey& key) const;

  absl::Status Write(const KeptResult& kept) const;
  // Returns the path of an acknowledged result's file.
  std::string PathOf(const KeptResult& acknowledged) const;
  void DropAcknowledged(size_t index);

  std::string folder_;
  std::vector<KeptResult> kept_;
  std::vector<KeptResult> acknowledged_;  // oldest first
  std::set<std::string> unwritten_;       // paths
};

}  // namespace meshwright::agent
