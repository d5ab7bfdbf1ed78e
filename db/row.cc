#include "db/row.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "db/row_codec.h"
#include "planner/codec/fields.h"

namespace meshwright::db {

template <planner::ConstOr<SweepRecord> Sweep, typename Visitor>
void VisitFields(Sweep& sweep, Visitor& visit) {
  visit(ReadOnly("id"), sweep.id);
  visit("name", sweep.name);
  visit(planner::NullUnless(!sweep.request_id.empty(), "request_id"), sweep.request_id);
  visit("state", sweep.state, kSweepStateNames);
  visit("reason", sweep.reason);
  visit("create_time_us", sweep.create_time);
  visit(ReadOnly("end_time_us"), sweep.end_time);
  visit("model", sweep.model);
  visit("cluster", sweep.cluster);
  visit("cluster_json", sweep.cluster_json);
  visit("cluster_hash", sweep.cluster_hash);
  visit("profile", sweep.profile);
  visit("profile_json", sweep.profile_json);
  visit("profile_hash", sweep.profile_hash);
  visit("devices", sweep.devices);
  visit("device_kind", sweep.device_kind);
  visit("seq_len", sweep.seq_len);
  visit("global_batch", sweep.global_batch);
  visit("precision", sweep.precision);
  visit("steps", sweep.steps);
  visit("seed", sweep.seed);
  visit("memory_limit_bytes", sweep.memory_limit_bytes);
  visit("funnel_json", sweep.funnel_json);
  visit("planner_version", sweep.planner_version);
  visit("rerun_of", sweep.rerun_of);
}

template <planner::ConstOr<MeasuredTrial> Measured, typename Visitor>
void VisitFields(Measured& measured, Visitor& visit) {
  visit("result_json", measured.result_json);
  visit("worker_version", measured.worker_version);
  visit("mfu", measured.mfu);
  visit("step_s", measured.step_s);
  visit("peak_bytes", measured.peak_bytes);
}

// lease_expires_us is left alone: leases are kept in memory by whoever hands out trials.
template <planner::ConstOr<TrialRecord> Trial, typename Visitor>
void VisitFields(Trial& trial, Visitor& visit) {
  visit("sweep_id", trial.sweep_id);
  visit("number", trial.number);
  visit("layout", trial.layout);
  visit("state", trial.state, kTrialStateNames);
  visit("reason", trial.reason);
  visit("attempt", trial.attempt);
  visit(ReadOnly("lost_attempts"), trial.lost_attempts);
  visit(ReadOnly("agent"), trial.agent);
  visit(ReadOnly("host"), trial.host);
  visit("plan_json", trial.plan_json);
  visit("predicted_json", trial.predicted_json);
  visit(ReadOnly("measured"), trial.measured);
  visit("requested", trial.requested);
}

template <planner::ConstOr<TrialHead> Trial, typename Visitor>
void VisitFields(Trial& trial, Visitor& visit) {
  visit("number", trial.number);
  visit("layout", trial.layout);
  visit("state", trial.state, kTrialStateNames);
  visit("attempt", trial.attempt);
  visit("lost_attempts", trial.lost_attempts);
  visit("agent", trial.agent);
  visit("host", trial.host);
  visit("result_json IS NOT NULL", trial.measured);
  visit("step_s", trial.step_s);
}

template <planner::ConstOr<AttemptHead> Attempt, typename Visitor>
void VisitFields(Attempt& attempt, Visitor& visit) {
  visit("trial", attempt.trial);
  visit("number", attempt.number);
  visit("agent", attempt.agent);
  visit("host", attempt.host);
  visit("outcome", attempt.outcome);
}

template <planner::ConstOr<AttemptRecord> Attempt, typename Visitor>
void VisitFields(Attempt& attempt, Visitor& visit) {
  visit("number", attempt.number);
  visit("agent", attempt.agent);
  visit("host", attempt.host);
  visit("start_time_us", attempt.start_time);
  visit("end_time_us", attempt.end_time);
  visit("outcome", attempt.outcome);
  visit("reason", attempt.reason);
}

template <planner::ConstOr<EventRecord> Event, typename Visitor>
void VisitFields(Event& event, Visitor& visit) {
  visit(ReadOnly("sequence"), event.sequence);
  visit("sweep_id", event.sweep_id);
  visit("trial", event.trial);
  visit("attempt", event.attempt);
  visit("kind", event.kind);
  visit("message", event.message);
  visit("data_json", event.data_json);
  visit("time_us", event.time);
  visit("actor", event.actor);
}

const std::string& SweepColumns() {
  static const std::string* const kColumns = [] {
    auto* columns = new std::string(ColumnsOf<SweepRecord>(kRead));
    absl::StrAppend(columns,
                    ", (SELECT coalesce(max(sequence), 0) FROM events WHERE sweep_id = sweeps.id)");
    // One look into the index by state each.
    for (const auto& [state, name] : kTrialStateNames) {
      absl::StrAppend(columns, ", (SELECT count(*) FROM trials WHERE state = '",
                      absl::string_view(name.data(), name.size()), "' AND sweep_id = sweeps.id)");
    }
    return columns;
  }();
  return *kColumns;
}

const std::string& TrialColumns() {
  static const auto* const kColumns = new std::string(ColumnsOf<TrialRecord>(kRead));
  return *kColumns;
}

const std::string& BriefTrialColumns() {
  static const auto* const kColumns = new std::string(absl::StrReplaceAll(
      TrialColumns(), {{"plan_json", "''"},
                       {"predicted_json", "''"},
                       {"result_json", "CASE WHEN result_json IS NOT NULL THEN '' END"}}));
  return *kColumns;
}

const std::string& AttemptColumns() {
  static const auto* const kColumns = new std::string(ColumnsOf<AttemptRecord>(kRead));
  return *kColumns;
}

const std::string& TrialHeadColumns() {
  static const auto* const kColumns = new std::string(ColumnsOf<TrialHead>(kRead));
  return *kColumns;
}

const std::string& AttemptHeadColumns() {
  static const auto* const kColumns = new std::string(ColumnsOf<AttemptHead>(kRead));
  return *kColumns;
}

const std::string& EventColumns() {
  static const auto* const kColumns = new std::string(ColumnsOf<EventRecord>(kRead));
  return *kColumns;
}

int64_t ToMicros(absl::Time time) { return absl::ToUnixMicros(time); }

SweepRecord ReadSweep(const SqliteStatement& row) {
  SweepRecord sweep;
  RowReader reader(row);
  VisitFields(sweep, reader);
  int column = reader.column();
  sweep.last_sequence = row.Int(column++);
  for (const auto& [state, name] : kTrialStateNames) {
    sweep.trial_counts[state] = static_cast<int32_t>(row.Int(column++));
  }
  return sweep;
}

TrialRecord ReadTrial(const SqliteStatement& row) { return ReadRow<TrialRecord>(row); }

AttemptRecord ReadAttempt(const SqliteStatement& row) { return ReadRow<AttemptRecord>(row); }

TrialHead ReadTrialHead(const SqliteStatement& row) { return ReadRow<TrialHead>(row); }

AttemptHead ReadAttemptHead(const SqliteStatement& row) { return ReadRow<AttemptHead>(row); }

EventRecord ReadEvent(const SqliteStatement& row) { return ReadRow<EventRecord>(row); }

absl::Status InsertSweep(SqliteConnection* connection, const SweepRecord& sweep) {
  return InsertRow(connection, "sweeps", sweep);
}

absl::Status InsertTrial(SqliteConnection* connection, const TrialRecord& trial) {
  return InsertRow(connection, "trials", trial);
}

absl::Status InsertEvent(SqliteConnection* connection, const EventRecord& event) {
  return InsertRow(connection, "events", event);
}

}  // namespace meshwright::db
