#include "db/sqlite_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "db/standby_copy.h"

namespace meshwright::db {
namespace {

constexpr int32_t kMostSearchThreads = 8;  // chosen, not derived: leaves cores to other work
constexpr size_t kMostIdleReaders = 8 + kMostSearchThreads;

}  // namespace

int32_t SearchThreads::OfThisMachine() {
  return std::clamp(static_cast<int32_t>(std::thread::hardware_concurrency()), 1,
                    kMostSearchThreads);
}

absl::StatusOr<std::unique_ptr<SqliteSweepStore>> SqliteSweepStore::Open(const std::string& path,
                                                                         LookOver look_over,
                                                                         SearchThreads search) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection, OpenDatabase(path, look_over));
  RETURN_IF_ERROR(CheckDecides(connection.get()));
  return absl::WrapUnique(new SqliteSweepStore(std::move(connection), search));
}

absl::Status SqliteSweepStore::LimitPages(int64_t pages) {
  absl::MutexLock lock(&mutex_);
  return writer_.connection->Execute(absl::StrCat("PRAGMA max_page_count = ", pages));
}

absl::StatusOr<std::unique_ptr<SqliteSweepStore::Session>> SqliteSweepStore::TakeReader() {
  {
    absl::MutexLock lock(&readers_mutex_);
    if (!idle_readers_.empty()) {
      std::unique_ptr<Session> reader = std::move(idle_readers_.back());
      idle_readers_.pop_back();
      return reader;
    }
  }
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                   SqliteConnection::Open(path_, SqliteConnection::Mode::kReadOnly));
  return std::make_unique<Session>(std::move(connection));
}

void SqliteSweepStore::GiveBack(std::unique_ptr<Session> reader) {
  absl::MutexLock lock(&readers_mutex_);
  if (idle_readers_.size() < kMostIdleReaders) idle_readers_.push_back(std::move(reader));
}

template <typename Read>
auto SqliteSweepStore::Reading(const Read& read) -> decltype(read(std::declval<SqliteSweeps&>())) {
  if (path_ == kInMemory) {
    absl::MutexLock lock(&mutex_);
    return read(writer_.sweeps);
  }
  absl::StatusOr<std::unique_ptr<Session>> reader = TakeReader();
  if (!reader.ok()) return reader.status();
  auto result = read((*reader)->sweeps);
  // A connection whose read failed may be broken.
  if (result.ok() || absl::IsNotFound(result.status())) GiveBack(*std::move(reader));
  return result;
}

template <typename Write>
auto SqliteSweepStore::Writing(const Write& write)
    -> decltype(write(std::declval<SqliteSweeps&>())) {
  absl::MutexLock lock(&mutex_);
  auto result = write(writer_.sweeps);
  writer_.sweeps.TakeEvents();
  PassChanges();
  return result;
}

absl::StatusOr<std::vector<EventRecord>> SqliteSweepStore::Atomically(Work work) {
  absl::MutexLock lock(&mutex_);
  writer_.sweeps.TakeEvents();
  RETURN_IF_ERROR(writer_.sweeps.Together(work));
  PassChanges();
  return writer_.sweeps.TakeEvents();
}

absl::Status SqliteSweepStore::BeginCapture(ChangeSink sink) {
  absl::MutexLock lock(&mutex_);
  capture_.reset();
  auto capture = std::make_unique<Capture>();
  capture->sink = std::move(sink);
  SqliteConnection* const writer = writer_.connection.get();
  RETURN_IF_ERROR(writer->Run("UPDATE store SET has_standbys = 1"));
  ASSIGN_OR_RETURN(capture->data_version, writer->QueryInt("PRAGMA data_version"));
  ASSIGN_OR_RETURN(capture->own, ChangeCapture::Begin(writer));
  ASSIGN_OR_RETURN(capture->tokens, TokenCapture::Begin(path_));
  capture_ = std::move(capture);
  return absl::OkStatus();
}

absl::StatusOr<bool> SqliteSweepStore::WasCaptured() {
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const int64_t had,
                   writer_.connection->QueryInt("SELECT has_standbys FROM store"));
  return had != 0;
}

void SqliteSweepStore::EndCapture() {
  absl::MutexLock lock(&mutex_);
  capture_.reset();
}

void SqliteSweepStore::CaptureOthers() {
  absl::MutexLock lock(&mutex_);
  PassChanges();
}

absl::Status SqliteSweepStore::TryPassChanges() {
  ASSIGN_OR_RETURN(std::string own, capture_->own->Take());
  if (!own.empty()) capture_->sink(std::move(own));
  ASSIGN_OR_RETURN(const int64_t version, writer_.connection->QueryInt("PRAGMA data_version"));
  if (version == capture_->data_version) return absl::OkStatus();
  capture_->data_version = version;
  ASSIGN_OR_RETURN(std::string tokens, capture_->tokens->Take());
  if (!tokens.empty()) capture_->sink(std::move(tokens));
  return absl::OkStatus();
}

void SqliteSweepStore::PassChanges() {
  if (capture_ == nullptr) return;
  absl::Status status = TryPassChanges();
  if (status.ok()) return;
  const std::unique_ptr<Capture> ended = std::move(capture_);
  ended->sink(std::move(status));
}

absl::StatusOr<UniqueFd> SqliteSweepStore::Snapshot(const std::function<void()>& at_moment) {
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> reader,
                   SqliteConnection::Open(path_, SqliteConnection::Mode::kReadOnly));
  {
    absl::MutexLock lock(&mutex_);
    PassChanges();
    // Reading something begins the transaction.
    RETURN_IF_ERROR(reader->Execute("BEGIN; SELECT count(*) FROM store"));
    at_moment();
  }
  const std::string path = absl::StrCat(path_, "-snapshot");
  RETURN_IF_ERROR(reader->CopyTo(path));
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  unlink(path.c_str());
  if (file.is_open()) return file;
  return absl::UnavailableError(absl::StrCat("can't read the snapshot ", path));
}

absl::Status SqliteSweepStore::Together(Work work) {
  return Writing([&](SqliteSweeps& sweeps) { return sweeps.Together(work); });
}

absl::StatusOr<std::string> SqliteSweepStore::StoreId() {
  return Reading([](SqliteSweeps& sweeps) { return sweeps.StoreId(); });
}

absl::StatusOr<int64_t> SqliteSweepStore::Epoch() {
  return Reading([](SqliteSweeps& sweeps) { return sweeps.Epoch(); });
}

absl::StatusOr<std::string> SqliteSweepStore::AttemptSecret() {
  return Reading([](SqliteSweeps& sweeps) { return sweeps.AttemptSecret(); });
}

absl::StatusOr<std::vector<AgentQuarantine>> SqliteSweepStore::ListAgentQuarantines() {
  return Reading([](SqliteSweeps& sweeps) { return sweeps.ListAgentQuarantines(); });
}

absl::Status SqliteSweepStore::RenewLease(const LeaseRenewal& renewal) {
  return Writing([&](SqliteSweeps& sweeps) { return sweeps.RenewLease(renewal); });
}

absl::Status SqliteSweepStore::SetAgentQuarantine(const AgentQuarantine& quarantine) {
  return Writing([&](SqliteSweeps& sweeps) { return sweeps.SetAgentQuarantine(quarantine); });
}

absl::StatusOr<SweepRecord> SqliteSweepStore::GetSweep(std::string_view name) {
  return Reading([&](SqliteSweeps& sweeps) { return sweeps.GetSweep(name); });
}

absl::StatusOr<SweepRecord> SqliteSweepStore::GetSweepById(int64_t id) {
  return Reading([&](SqliteSweeps& sweeps) { return sweeps.GetSweepById(id); });
}

absl::StatusOr<std::vector<SweepRecord>> SqliteSweepStore::ListSweeps(int64_t before_id,
                                                                      int32_t limit) {
  return Reading([&](SqliteSweeps& sweeps) { return sweeps.ListSweeps(before_id, limit); });
}

absl::StatusOr<std::vector<SweepRecord>> SqliteSweepStore::ListActiveSweeps() {
  return Reading([](SqliteSweeps& sweeps) { return sweeps.ListActiveSweeps(); });
}

absl::StatusOr<std::vector<std::string>> SqliteSweepStore::ListSweepNames() {
  return Reading([](SqliteSweeps& sweeps) { return sweeps.ListSweepNames(); });
}

absl::StatusOr<std::vector<TrialRecord>> SqliteSweepStore::ListTrials(int64_t sweep_id,
                                                                      TrialOrder order,
                                                                      int32_t offset,
                                                                      int32_t limit) {
  return Reading(
      [&](SqliteSweeps& sweeps) { return sweeps.ListTrials(sweep_id, order, offset, limit); });
}

absl::StatusOr<std::vector<TrialRecord>> SqliteSweepStore::ListTrialsBriefly(int64_t sweep_id,
                                                                             TrialOrder order,
                                                                             int32_t offset,
                                                                             int32_t limit) {
  return Reading([&](SqliteSweeps& sweeps) {
    return sweeps.ListTrialsBriefly(sweep_id, order, offset, limit);
  });
}

absl::StatusOr<TrialRecord> SqliteSweepStore::GetTrial(int64_t sweep_id, int32_t number) {
  return Reading([&](SqliteSweeps& sweeps) { return sweeps.GetTrial(sweep_id, number); });
}

absl::StatusOr<std::vector<AttemptRecord>> SqliteSweepStore::ListAttempts(int64_t sweep_id,
                                                                          int32_t number) {
  return Reading([&](SqliteSweeps& sweeps) { return sweeps.ListAttempts(sweep_id, number); });
}

absl::StatusOr<std::vector<TrialSummary>> SqliteSweepStore::ListTrialSummaries(int64_t sweep_id) {
  return Reading([&](SqliteSweeps& sweeps) { return sweeps.ListTrialSummaries(sweep_id); });
}

absl::StatusOr<std::vector<AttemptSummary>> SqliteSweepStore::ListAttemptSummaries(
    int64_t sweep_id) {
  return Reading([&](SqliteSweeps& sweeps) { return sweeps.ListAttemptSummaries(sweep_id); });
}

absl::StatusOr<std::string> SqliteSweepStore::GetPlan(int64_t sweep_id, int32_t number) {
  return Reading([&](SqliteSweeps& sweeps) { return sweeps.GetPlan(sweep_id, number); });
}

absl::StatusOr<std::vector<MeasuredRow>> SqliteSweepStore::ListMeasured(
    const MeasurementQuery& query) {
  if (path_ == kInMemory) {
    return Reading([&](SqliteSweeps& sweeps) { return sweeps.ListMeasured(query); });
  }
  ASSIGN_OR_RETURN(
      const std::vector<MeasurementQuery> stretches,
      Reading([&](SqliteSweeps& sweeps) { return sweeps.StretchesOf(query, most_rows_alone_); }));
  // Readers that start at different moments never see the same row in two stretches: its place does
  // not change until it is deleted and its id reused.
  ASSIGN_OR_RETURN(
      const std::vector<MeasurementPlace> places,
      search_.Run(stretches, query.limit, [&](const MeasurementQuery& stretch) {
        return Reading([&](SqliteSweeps& sweeps) { return sweeps.FindPlaces(stretch); });
      }));
  return Reading(
      [&](SqliteSweeps& sweeps) { return sweeps.ReadMeasured(places, query.with_texts); });
}

absl::StatusOr<std::vector<EarlierResult>> SqliteSweepStore::ListEarlierResults(
    const ResultShape& shape) {
  return Reading([&](SqliteSweeps& sweeps) { return sweeps.ListEarlierResults(shape); });
}

absl::StatusOr<std::vector<SweepShape>> SqliteSweepStore::ListSweepShapes(int64_t sweep_id,
                                                                          int32_t limit) {
  return Reading([&](SqliteSweeps& sweeps) { return sweeps.ListSweepShapes(sweep_id, limit); });
}

absl::StatusOr<std::vector<PredictedResult>> SqliteSweepStore::ListPredictedResults(
    int64_t sweep_id, std::string_view worker_version, int32_t limit) {
  return Reading([&](SqliteSweeps& sweeps) {
    return sweeps.ListPredictedResults(sweep_id, worker_version, limit);
  });
}

absl::StatusOr<std::vector<EventRecord>> SqliteSweepStore::ListEvents(int64_t sweep_id,
                                                                      int64_t after_sequence,
                                                                      int32_t limit) {
  return Reading(
      [&](SqliteSweeps& sweeps) { return sweeps.ListEvents(sweep_id, after_sequence, limit); });
}

absl::StatusOr<SweepRecord> SqliteSweepStore::CreateSweep(const SweepRecord& sweep,
                                                          const std::vector<TrialRecord>& trials) {
  return Writing([&](SqliteSweeps& sweeps) { return sweeps.CreateSweep(sweep, trials); });
}

absl::Status SqliteSweepStore::UpdateSweep(const SweepTransition& transition) {
  return Writing([&](SqliteSweeps& sweeps) { return sweeps.UpdateSweep(transition); });
}

absl::Status SqliteSweepStore::CancelSweep(int64_t sweep_id, std::string_view reason,
                                           absl::Time time, std::string_view actor) {
  return Writing(
      [&](SqliteSweeps& sweeps) { return sweeps.CancelSweep(sweep_id, reason, time, actor); });
}

absl::Status SqliteSweepStore::DeleteSweep(int64_t sweep_id, absl::Time time,
                                           std::string_view actor) {
  return Writing([&](SqliteSweeps& sweeps) { return sweeps.DeleteSweep(sweep_id, time, actor); });
}

absl::Status SqliteSweepStore::UpdateTrial(const TrialTransition& transition) {
  return Writing([&](SqliteSweeps& sweeps) { return sweeps.UpdateTrial(transition); });
}

absl::StatusOr<int64_t> SqliteSweepStore::Import(const std::vector<NewImport>& runs) {
  return Writing([&](SqliteSweeps& sweeps) { return sweeps.Import(runs); });
}

absl::StatusOr<int64_t> SqliteSweepStore::PruneEvents(absl::Time before, int64_t limit) {
  return Writing([&](SqliteSweeps& sweeps) { return sweeps.PruneEvents(before, limit); });
}

absl::StatusOr<int64_t> SqliteSweepStore::AppendEvent(const EventRecord& event) {
  return Writing([&](SqliteSweeps& sweeps) { return sweeps.AppendEvent(event); });
}

}  // namespace meshwright::db
