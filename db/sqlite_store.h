// SweepStore in an SQLite file, or in memory.
//
// The file is in WAL mode with full synchronisation: what a call reported as done survives a kill
// of the process and of the machine. One process writes sweeps; others may read them, and write
// tokens (db/token_store.h).
#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "db/sqlite.h"
#include "db/sweep_store.h"

namespace meshwright::db {

class SqliteSweepStore final : public SweepStore {
 public:
  // As OpenDatabase().
  static absl::StatusOr<std::unique_ptr<SqliteSweepStore>> Open(const std::string& path);

  absl::StatusOr<std::string> StoreId() override;
  absl::StatusOr<SweepRecord> CreateSweep(const SweepRecord& sweep,
                                          const std::vector<TrialRecord>& trials) override;
  absl::StatusOr<SweepRecord> GetSweep(std::string_view name) override;
  absl::StatusOr<SweepRecord> GetSweepById(int64_t id) override;
  absl::StatusOr<std::vector<SweepRecord>> ListSweeps(int64_t before_id, int32_t limit) override;
  absl::StatusOr<std::vector<SweepRecord>> ListActiveSweeps() override;
  absl::StatusOr<std::vector<std::string>> ListSweepNames() override;
  absl::Status UpdateSweep(const SweepTransition& transition) override;
  absl::Status CancelSweep(int64_t sweep_id, std::string_view reason, absl::Time time) override;
  absl::Status DeleteSweep(int64_t sweep_id) override;
  absl::StatusOr<std::vector<TrialRecord>> ListTrials(int64_t sweep_id, TrialOrder order,
                                                      int32_t offset, int32_t limit) override;
  absl::StatusOr<TrialRecord> GetTrial(int64_t sweep_id, int32_t number) override;
  absl::StatusOr<std::vector<AttemptRecord>> ListAttempts(int64_t sweep_id,
                                                          int32_t number) override;
  absl::Status UpdateTrial(const TrialTransition& transition) override;
  absl::StatusOr<int64_t> AppendEvent(const EventRecord& event) override;
  absl::StatusOr<std::vector<EventRecord>> ListEvents(int64_t sweep_id, int64_t after_sequence,
                                                      int32_t limit) override;

  // The largest size of the file in pages of 4096 bytes; for tests of a full disk.
  absl::Status LimitPages(int64_t pages);

 private:
  explicit SqliteSweepStore(std::unique_ptr<SqliteConnection> connection)
      : connection_(std::move(connection)) {}

  absl::StatusOr<std::vector<SweepRecord>> ReadSweeps(SqliteStatement& select)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<SweepRecord> ReadSweepById(int64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The name of a sweep that was given none.
  absl::StatusOr<std::string> NextName(std::string_view stem) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The number that the first attempts of a new sweep get.
  absl::StatusOr<int32_t> FirstAttempt(std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<TrialRecord> ReadTrialByNumber(int64_t sweep_id, int32_t number)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ApplyTransition(const TrialTransition& transition)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status RecordAttempt(const TrialTransition& transition)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Not ended without `end_us`.
  absl::Status SetAttempt(const TrialTransition& transition, int32_t attempt,
                          std::optional<int64_t> end_us, std::string_view outcome,
                          const std::string& reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  const std::unique_ptr<SqliteConnection> connection_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace meshwright::db
