// SqliteSweepStore is a SweepStore in an SQLite file, or in memory.
//
// The file is in WAL mode with full synchronisation: a change that a call reported as done survives
// a crash of the process or the machine. One process writes sweeps; others may read them, and write
// tokens (db/token_store.h). Reads of a file use connections of their own and don't wait for
// writes. In memory, one connection serves all reads and writes. If the first part of a large
// search of measurements does not fill the answer, several connections share the rest of the
// search, each on a thread of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "db/change_capture.h"
#include "db/change_source.h"
#include "db/database.h"
#include "db/sqlite.h"
#include "db/sqlite_sweeps.h"
#include "db/stretch_search.h"
#include "db/sweep_store.h"

namespace meshwright::db {

// Settings for the threads that share a search of a file's measurements.
struct SearchThreads {
  int32_t threads = OfThisMachine();
  // A search uses one thread if the measurements' ids span at most this many.
  int64_t most_rows_alone = 100'000;

  static int32_t OfThisMachine();
};

class SqliteSweepStore final : public SweepStore, private ChangeSource {
 public:
  // Opens the file as OpenDatabase() does, and returns the same errors. Returns FailedPrecondition
  // for a standby's copy (db/standby_copy.h).
  static absl::StatusOr<std::unique_ptr<SqliteSweepStore>> Open(
      const std::string& path, LookOver look_over = LookOver::kBefore, SearchThreads search = {});

  absl::StatusOr<std::vector<EventRecord>> Atomically(Work work) override;
  ChangeSource* changes() override { return path_ == kInMemory ? nullptr : this; }

  absl::StatusOr<std::string> StoreId() override;
  absl::StatusOr<int64_t> Epoch() override;
  absl::StatusOr<std::string> AttemptSecret() override;
  absl::StatusOr<std::vector<AgentQuarantine>> ListAgentQuarantines() override;
  absl::Status RenewLease(const LeaseRenewal& renewal) override;
  absl::Status SetAgentQuarantine(const AgentQuarantine& quarantine) override;
  absl::StatusOr<SweepRecord> GetSweep(std::string_view name) override;
  absl::StatusOr<SweepRecord> GetSweepById(int64_t id) override;
  absl::StatusOr<std::vector<SweepRecord>> ListSweeps(int64_t before_id, int32_t limit) override;
  absl::StatusOr<std::vector<SweepRecord>> ListActiveSweeps() override;
  absl::StatusOr<std::vector<std::string>> ListSweepNames() override;
  absl::StatusOr<std::vector<TrialRecord>> ListTrials(int64_t sweep_id, TrialOrder order,
                                                      int32_t offset, int32_t limit) override;
  absl::StatusOr<std::vector<TrialRecord>> ListTrialsBriefly(int64_t sweep_id, TrialOrder order,
                                                             int32_t offset,
                                                             int32_t limit) override;
  absl::StatusOr<TrialRecord> GetTrial(int64_t sweep_id, int32_t number) override;
  absl::StatusOr<std::vector<AttemptRecord>> ListAttempts(int64_t sweep_id,
                                                          int32_t number) override;
  absl::StatusOr<std::vector<TrialSummary>> ListTrialSummaries(int64_t sweep_id) override;
  absl::StatusOr<std::vector<EarlierResult>> ListEarlierResults(const ResultShape& shape) override;
  absl::StatusOr<std::vector<SweepShape>> ListSweepShapes(int64_t sweep_id, int32_t limit) override;
  absl::StatusOr<std::vector<PredictedResult>> ListPredictedResults(int64_t sweep_id,
                                                                    std::string_view worker_version,
                                                                    int32_t limit) override;
  absl::StatusOr<std::vector<AttemptSummary>> ListAttemptSummaries(int64_t sweep_id) override;
  absl::StatusOr<std::string> GetPlan(int64_t sweep_id, int32_t number) override;
  absl::StatusOr<std::vector<MeasuredRow>> ListMeasured(const MeasurementQuery& query) override;
  absl::StatusOr<std::vector<EventRecord>> ListEvents(int64_t sweep_id, int64_t after_sequence,
                                                      int32_t limit) override;

  absl::StatusOr<SweepRecord> CreateSweep(const SweepRecord& sweep,
                                          const std::vector<TrialRecord>& trials) override;
  absl::Status UpdateSweep(const SweepTransition& transition) override;
  absl::Status CancelSweep(int64_t sweep_id, std::string_view reason, absl::Time time,
                           std::string_view actor) override;
  absl::Status DeleteSweep(int64_t sweep_id, absl::Time time, std::string_view actor) override;
  absl::Status UpdateTrial(const TrialTransition& transition) override;
  absl::StatusOr<int64_t> Import(const std::vector<NewImport>& runs) override;
  absl::StatusOr<int64_t> PruneEvents(absl::Time before, int64_t limit) override;
  absl::StatusOr<int64_t> AppendEvent(const EventRecord& event) override;
  absl::Status Together(Work work) override;

  // Sets the largest size of the file in pages of 4096 bytes, for tests of a full disk.
  absl::Status LimitPages(int64_t pages);

 private:
  // A connection and its SqliteSweeps.
  struct Session {
    explicit Session(std::unique_ptr<SqliteConnection> opened)
        : connection(std::move(opened)), sweeps(connection.get()) {}

    const std::unique_ptr<SqliteConnection> connection;
    SqliteSweeps sweeps;
  };

  // What records changes.
  struct Capture {
    ChangeSink sink;
    std::unique_ptr<ChangeCapture> own;  // of the writing connection
    std::unique_ptr<TokenCapture> tokens;
    int64_t data_version = 0;  // changes when another connection writes
  };

  absl::Status BeginCapture(ChangeSink sink) override;
  absl::StatusOr<bool> WasCaptured() override;
  void EndCapture() override;
  void CaptureOthers() override;
  absl::StatusOr<UniqueFd> Snapshot(const std::function<void()>& at_moment) override;
  // Passes on what was changed since the last call. An error ends the capture.
  void PassChanges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TryPassChanges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  SqliteSweepStore(std::unique_ptr<SqliteConnection> connection, SearchThreads search)
      : path_(connection->path()),
        most_rows_alone_(search.most_rows_alone),
        writer_(std::move(connection)),
        search_(search.threads) {}

  // Returns an idle connection for reading, or a new one.
  absl::StatusOr<std::unique_ptr<Session>> TakeReader();
  void GiveBack(std::unique_ptr<Session> reader);
  // Returns read(SqliteSweeps&), which runs on a connection for reading.
  template <typename Read>
  auto Reading(const Read& read) -> decltype(read(std::declval<SqliteSweeps&>()));
  // Returns write(SqliteSweeps&), which runs under mutex_.
  template <typename Write>
  auto Writing(const Write& write) -> decltype(write(std::declval<SqliteSweeps&>()));

  const std::string path_;
  const int64_t most_rows_alone_;
  absl::Mutex mutex_;
  Session writer_ ABSL_GUARDED_BY(mutex_);
  // Destroyed before `writer_`, whose connection it uses.
  std::unique_ptr<Capture> capture_ ABSL_GUARDED_BY(mutex_);
  StretchSearch search_;
  absl::Mutex readers_mutex_;
  std::vector<std::unique_ptr<Session>> idle_readers_ ABSL_GUARDED_BY(readers_mutex_);
};

}  // namespace meshwright::db
