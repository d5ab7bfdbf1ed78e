// SqliteSweeps implements SweepAccess over one SQLite connection. Not thread-safe: callers hold a
// lock of their own.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/status_macros.h"
#include "db/shapes.h"
#include "db/sqlite.h"
#include "db/sweep_store.h"

namespace meshwright::db {

class SqliteSweeps final : public SweepAccess {
 public:
  // REQUIRES: the database of `connection` is migrated, and `connection` outlives this object.
  explicit SqliteSweeps(SqliteConnection* connection) : connection_(connection) {}

  absl::StatusOr<std::string> StoreId() override;
  absl::StatusOr<int64_t> Epoch() override;
  absl::StatusOr<std::string> AttemptSecret() override;
  absl::StatusOr<std::vector<AgentQuarantine>> ListAgentQuarantines() override;
  absl::Status RenewLease(const LeaseRenewal& renewal) override;
  absl::Status SetAgentQuarantine(const AgentQuarantine& quarantine) override;
  absl::StatusOr<SweepRecord> CreateSweep(const SweepRecord& sweep,
                                          const std::vector<TrialRecord>& trials) override;
  absl::StatusOr<SweepRecord> GetSweep(std::string_view name) override;
  absl::StatusOr<SweepRecord> GetSweepById(int64_t id) override;
  absl::StatusOr<std::vector<SweepRecord>> ListSweeps(int64_t before_id, int32_t limit) override;
  absl::StatusOr<std::vector<SweepRecord>> ListActiveSweeps() override;
  absl::StatusOr<std::vector<std::string>> ListSweepNames() override;
  absl::Status UpdateSweep(const SweepTransition& transition) override;
  absl::Status CancelSweep(int64_t sweep_id, std::string_view reason, absl::Time time,
                           std::string_view actor) override;
  absl::Status DeleteSweep(int64_t sweep_id, absl::Time time, std::string_view actor) override;
  absl::StatusOr<std::vector<TrialRecord>> ListTrials(int64_t sweep_id, TrialOrder order,
                                                      int32_t offset, int32_t limit) override;
  absl::StatusOr<std::vector<TrialRecord>> ListTrialsBriefly(int64_t sweep_id, TrialOrder order,
                                                             int32_t offset,
                                                             int32_t limit) override;
  absl::StatusOr<TrialRecord> GetTrial(int64_t sweep_id, int32_t number) override;
  absl::StatusOr<std::vector<AttemptRecord>> ListAttempts(int64_t sweep_id,
                                                          int32_t number) override;
  absl::StatusOr<std::vector<TrialSummary>> ListTrialSummaries(int64_t sweep_id) override;
  absl::StatusOr<std::vector<AttemptSummary>> ListAttemptSummaries(int64_t sweep_id) override;
  absl::StatusOr<std::string> GetPlan(int64_t sweep_id, int32_t number) override;
  absl::StatusOr<std::vector<MeasuredRow>> ListMeasured(const MeasurementQuery& query) override;
  absl::StatusOr<std::vector<EarlierResult>> ListEarlierResults(const ResultShape& shape) override;
  absl::StatusOr<std::vector<SweepShape>> ListSweepShapes(int64_t sweep_id, int32_t limit) override;
  absl::StatusOr<std::vector<PredictedResult>> ListPredictedResults(int64_t sweep_id,
                                                                    std::string_view worker_version,
                                                                    int32_t limit) override;
  absl::Status UpdateTrial(const TrialTransition& transition) override;
  absl::StatusOr<int64_t> Import(const std::vector<NewImport>& runs) override;
  absl::StatusOr<int64_t> PruneEvents(absl::Time before, int64_t limit) override;
  absl::StatusOr<int64_t> AppendEvent(const EventRecord& event) override;
  absl::Status Together(Work work) override;
  absl::StatusOr<std::vector<EventRecord>> ListEvents(int64_t sweep_id, int64_t after_sequence,
                                                      int32_t limit) override;

  // StretchesOf(), FindPlaces() and ReadMeasured() are the steps of ListMeasured(). Separate calls
  // let several connections search stretches of one query simultaneously.
  //
  // Splits the query into queries for consecutive ranges of its order (by MFU or step time), which
  // are called stretches. The query stays whole if the row ids span at most `most_rows`, if it has
  // no condition, or if it uses an index with another order. Returns an empty list if no row can
  // match the condition.
  absl::StatusOr<std::vector<MeasurementQuery>> StretchesOf(const MeasurementQuery& query,
                                                            int64_t most_rows);
  // Returns the places, in the query's order, of the rows that ListMeasured() would list.
  absl::StatusOr<std::vector<MeasurementPlace>> FindPlaces(const MeasurementQuery& query);
  // Returns the rows at these places, except rows that were deleted in the meantime.
  absl::StatusOr<std::vector<MeasuredRow>> ReadMeasured(const std::vector<MeasurementPlace>& places,
                                                        bool with_texts);

  // Returns the events that successful calls stored since the last TakeEvents(), in order of
  // sequence.
  std::vector<EventRecord> TakeEvents() { return std::exchange(events_, {}); }

 private:
  // A transaction or savepoint, together with the events that are stored in it.
  class Change {
   public:
    static absl::StatusOr<Change> Begin(SqliteSweeps* sweeps);
    Change(Change&& other) noexcept
        : sweeps_(std::exchange(other.sweeps_, nullptr)),
          transaction_(std::move(other.transaction_)),
          events_before_(other.events_before_) {}
    Change& operator=(Change&&) = delete;
    ~Change();

    absl::Status Commit();

   private:
    Change(SqliteSweeps* sweeps, SqliteTransaction transaction)
        : sweeps_(sweeps),
          transaction_(std::move(transaction)),
          events_before_(sweeps->events_.size()) {}

    SqliteSweeps* sweeps_;
    SqliteTransaction transaction_;
    size_t events_before_;
  };

  absl::StatusOr<std::vector<SweepRecord>> ReadSweeps(SqliteStatement& select);
  absl::StatusOr<SweepRecord> ReadSweepById(int64_t id);
  // Returns NotFound, which says who deleted the sweep if it was deleted.
  absl::Status WhyNotFound(std::string_view name);
  // Returns a name, which begins with `stem`, for a sweep that was requested without a name.
  absl::StatusOr<std::string> NextName(std::string_view stem);
  // Returns the attempt number with which the trials of a new sweep of this name begin.
  absl::StatusOr<int32_t> FirstAttempt(std::string_view name);
  absl::Status BeginTrial(const TrialTransition& transition);
  absl::Status StoreTransition(const TrialTransition& transition);
  absl::StatusOr<TrialRecord> ReadTrialByNumber(int64_t sweep_id, int32_t number, bool with_texts);
  // `rows` is the SELECT statement of the trials, without WHERE and ORDER BY.
  absl::StatusOr<std::vector<TrialRecord>> ReadTrials(const std::string& rows, int64_t sweep_id,
                                                      TrialOrder order, int32_t offset,
                                                      int32_t limit);
  absl::Status ApplyTransition(const TrialTransition& transition);
  // Returns false if the tables of the facets (MeasurementFacet) alone show that no row can match
  // the condition.
  absl::StatusOr<bool> MayBeMet(const planner::Condition& where);
  // Returns places between the query's `after` and `until`, in the query's order. The places divide
  // the rows into ranges of about equal size. No two places have the same figure. Returns no places
  // if the row ids span at most `most_rows`.
  absl::StatusOr<std::vector<MeasurementPlace>> SamplePlaces(const MeasurementQuery& query,
                                                             int64_t most_rows);
  // Appends places to `places` until it has as many as the query's limit. If `with_figure`, these
  // are the places of rows that have the figure by which the query orders, and otherwise the places
  // of rows that lack it.
  absl::Status ReadPlaces(const MeasurementQuery& query, bool with_figure,
                          std::vector<MeasurementPlace>& places);
  absl::StatusOr<MeasuredRow> ReadMeasuredRow(const MeasurementPlace& place, bool with_texts);
  // Reads the remaining columns of an imported row.
  absl::Status ReadImport(MeasuredRow& row);
  // Returns the sweep that was made under this request id, if any. Returns InvalidArgument if a
  // different request made it.
  absl::StatusOr<std::optional<SweepRecord>> FindRequest(const SweepRecord& sweep);
  // Inserts a new sweep with its shapes and its request. Sets the sweep's id and hashes.
  absl::Status StoreSweep(SweepRecord& sweep, const PlanParts& plan);
  absl::Status StoreRequest(const SweepRecord& sweep);
  // Inserts the shape unless the table has it.
  absl::Status StoreShape(absl::string_view table, const std::string& hash,
                          const std::string& shape);
  // Inserts the measurement of a trial that has just got its result.
  absl::Status StoreMeasurement(int64_t sweep_id, int32_t number, TrialState state,
                                const MeasuredTrial& measured, MeasurementSource source);
  absl::Status StoreImport(const NewImport& run);
  // Returns whether an imported row has this hash.
  absl::StatusOr<bool> HasRow(const std::string& row_hash);
  // Returns whether the row was exported from a trial that this store has: a trial of the sweep
  // that the row names, with the row's layout, outcome and step time.
  absl::StatusOr<bool> IsTrialOfThisStore(const NewImport& run);
  // StoreLayout(), StoreOrigin() and StoreSettings(), like StoreTrainingOptions(), insert a row
  // into a facet's table (MeasurementFacet) unless the table has the row. They are called before a
  // measurement that refers to the row is stored.
  absl::Status StoreLayout(const std::string& layout);
  absl::Status StoreOrigin(MeasurementSource source, std::string_view worker_version,
                           TrialState outcome);
  // `Run` is SweepRecord or NewImport.
  template <typename Run>
  absl::Status StoreSettings(const Run& run) {
    ASSIGN_OR_RETURN(SqliteStatement insert,
                     connection_->Prepare("INSERT OR IGNORE INTO settings (model, cluster, "
                                          "devices, seq_len, global_batch, precision) "
                                          "VALUES (?, ?, ?, ?, ?, ?)"));
    insert.Bind(run.model).Bind(run.cluster).Bind(run.devices).Bind(run.seq_len);
    insert.Bind(run.global_batch).Bind(run.precision);
    return insert.Run();
  }
  absl::Status RecordNewAttempt(const TrialTransition& transition);
  absl::Status RecordAttempt(const TrialTransition& transition);
  // If `failed`, sets AttemptMember::failed of the transition's `failed_agent`, or of all members
  // if `failed_agent` is nullopt. Otherwise, clears it for all members.
  absl::Status SetFailed(const TrialTransition& transition, int32_t attempt, bool failed);
  // Sets how and when the attempt ended. A nullopt `end_us` means that the attempt has not ended.
  absl::Status SetAttempt(const TrialTransition& transition, int32_t attempt,
                          std::optional<int64_t> end_us, std::string_view outcome,
                          const std::string& reason);
  // Stores the event and returns its sequence.
  absl::StatusOr<int64_t> StoreEvent(EventRecord event);

  SqliteConnection* const connection_;
  std::vector<EventRecord> events_;
};

}  // namespace meshwright::db
