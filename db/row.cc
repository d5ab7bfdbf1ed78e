#include "db/row.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "db/row_codec.h"
#include "db/shapes.h"
#include "planner/codec/fields.h"

namespace meshwright::db {

template <planner::ConstOr<SweepRecord> Sweep, typename Visitor>
void VisitFields(Sweep& sweep, Visitor& visit) {
  visit(ReadOnly("id"), sweep.id);
  visit("name", sweep.name);
  visit(ReadOnly("request_id"), sweep.request_id);
  visit("state", sweep.state, kSweepStateNames);
  visit("reason", sweep.reason);
  visit("create_time_us", sweep.create_time);
  visit(ReadOnly("end_time_us"), sweep.end_time);
  visit("model", sweep.model);
  visit("cluster", sweep.cluster);
  visit("profile", sweep.profile);
  visit(ReadOnly("cluster_json"), sweep.cluster_json);
  visit(ReadOnly("profile_json"), sweep.profile_json);
  visit(planner::NullUnless(!sweep.model_hash.empty(), "model_hash"), sweep.model_hash);
  visit(planner::NullUnless(!sweep.training_hash.empty(), "training_hash"), sweep.training_hash);
  visit("cluster_hash", sweep.cluster_hash);
  visit("profile_hash", sweep.profile_hash);
  visit("devices", sweep.devices);
  visit("device_kind", sweep.device_kind);
  visit("runner", sweep.runner);
  visit("asked", sweep.asked);
  visit("seq_len", sweep.seq_len);
  visit("global_batch", sweep.global_batch);
  visit("precision", sweep.precision);
  visit("steps", sweep.steps);
  visit("seed", sweep.seed);
  visit("memory_limit_bytes", sweep.memory_limit_bytes);
  visit(ReadOnly("funnel_json"), sweep.funnel_json);
  visit(ReadOnly("request_json"), sweep.request_json);
  visit("planner_version", sweep.planner_version);
  visit("rerun_of", sweep.rerun_of);
  visit("max_trials", sweep.max_trials);
  visit("min_gain", sweep.min_gain);
  visit(ReadOnly("actor"), sweep.actor);
}

template <planner::ConstOr<MeasuredTrial> Measured, typename Visitor>
void VisitFields(Measured& measured, Visitor& visit) {
  visit("result_json", measured.result_json);
  visit("worker_version", measured.worker_version);
  visit("mfu", measured.mfu);
  visit("step_s", measured.step_s);
  visit("step_noise", measured.step_noise);
  visit("peak_bytes", measured.peak_bytes);
}

template <planner::ConstOr<TrialRecord> Trial, typename Visitor>
void VisitFields(Trial& trial, Visitor& visit) {
  visit("sweep_id", trial.sweep_id);
  visit("number", trial.number);
  visit(Once("layout"), trial.layout);
  visit(Changing("state"), trial.state, kTrialStateNames);
  visit(Changing("reason"), trial.reason);
  visit(Changing("attempt"), trial.attempt);
  visit(Changing("reused_from"), trial.reused_from);
  visit(ReadOnly("lost_attempts"), trial.lost_attempts);
  visit(ReadOnly("agent"), trial.agent);
  visit(ReadOnly("host"), trial.host);
  visit(ReadOnly("end_time_us"), trial.end_time);
  visit(Once("plan_json"), trial.plan_json);
  visit(Once("predicted_json"), trial.predicted_json);
  visit(Once("predicted_step_s"), trial.predicted_step_s);
  visit(Once("oom_probability"), trial.oom_probability);
  visit(ReadOnly("measured"), trial.measured);
  visit(Once("requested"), trial.requested);
}

template <planner::ConstOr<TrialSummary> Trial, typename Visitor>
void VisitFields(Trial& trial, Visitor& visit) {
  visit("number", trial.number);
  visit("layout", trial.layout);
  visit("has_begun", trial.has_begun);
  visit("predicted_step_s", trial.predicted_step_s);
  visit("oom_probability", trial.oom_probability);
  visit("state", trial.state, kTrialStateNames);
  visit("attempt", trial.attempt);
  visit("lost_attempts", trial.lost_attempts);
  visit("measurement IS NOT NULL", trial.measured);
  visit("step_s", trial.step_s);
  visit("step_noise", trial.step_noise);
}

template <planner::ConstOr<AttemptSummary> Attempt, typename Visitor>
void VisitFields(Attempt& attempt, Visitor& visit) {
  visit("trial", attempt.trial);
  visit("number", attempt.number);
  visit("outcome", attempt.outcome);
  visit("lease_end_us", attempt.lease_end);
}

template <planner::ConstOr<AttemptMember> Member, typename Visitor>
void VisitFields(Member& member, Visitor& visit) {
  visit("agent", member.agent);
  visit("host", member.host);
  visit("first_rank", member.first_rank);
  visit("ranks", member.ranks);
  visit("failed", member.failed);
  visit("first_device", member.first_device);
}

template <planner::ConstOr<AttemptRecord> Attempt, typename Visitor>
void VisitFields(Attempt& attempt, Visitor& visit) {
  visit("number", attempt.number);
  visit("start_time_us", attempt.start_time);
  visit("end_time_us", attempt.end_time);
  visit("outcome", attempt.outcome);
  visit("reason", attempt.reason);
  visit("decision", attempt.decision);
  visit("policy_version", attempt.policy_version);
  visit("lease_end_us", attempt.lease_end);
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

namespace {

template <typename Record>
const std::string& RowsOf(std::string_view rows) {
  static const auto* const kSelect = new std::string(
      absl::StrCat("SELECT ", ColumnsOf<Record>(kRead), " FROM ", AbslView(rows), " "));
  return *kSelect;
}

// Tables with the records' columns. SQLite does not read the columns that a query does not name.
constexpr std::string_view kSweepRows =
    "(SELECT s.*, r.request_id, r.request_json, r.funnel_json, c.json AS cluster_json, "
    "p.json AS profile_json, coalesce((SELECT e.actor FROM events AS e WHERE e.sweep_id = s.id AND "
    "e.kind = 'sweep_created' ORDER BY e.sequence LIMIT 1), '') AS actor FROM sweeps AS s LEFT "
    "JOIN requests AS r ON r.sweep_id = s.id "
    "LEFT JOIN clusters AS c ON c.hash = s.cluster_hash "
    "LEFT JOIN profiles AS p ON p.hash = s.profile_hash) AS sweeps";
constexpr std::string_view kTrialRows =
    "(SELECT t.*, c.layout, c.requested, c.plan_json, c.predicted_json, c.predicted_step_s, "
    "c.oom_probability, s.model, "
    "o.json AS model_json, g.json AS training_json, m.id AS measurement, m.worker_version, m.mfu, "
    "m.step_s, m.step_noise, m.peak_bytes, r.result_json, "
    "CASE WHEN t.state NOT IN ('pending', 'assigned', 'running') THEN a.end_time_us END AS "
    "end_time_us FROM trials AS t "
    "LEFT JOIN attempts AS a ON a.sweep_id = t.sweep_id AND a.trial = t.number AND "
    "a.number = t.attempt "
    "LEFT JOIN candidates AS c ON c.sweep_id = t.sweep_id AND c.number = t.number "
    "LEFT JOIN sweeps AS s ON s.id = t.sweep_id LEFT JOIN models AS o ON o.hash = s.model_hash "
    "LEFT JOIN trainings AS g ON g.hash = s.training_hash "
    "LEFT JOIN measurements AS m ON m.sweep_id = t.sweep_id AND m.trial = t.number "
    "LEFT JOIN results AS r ON r.measurement = m.id) AS trials";
// A candidate that has not begun has the values that its trial will start with.
constexpr std::string_view kSummaryRows =
    "(SELECT c.sweep_id, c.number, c.layout, c.predicted_step_s, c.oom_probability, "
    "t.number IS NOT NULL AS has_begun, coalesce(t.state, 'pending') AS state, "
    "coalesce(t.attempt, n.last_attempt + 1, 1) AS attempt, "
    "coalesce(t.lost_attempts, 0) AS lost_attempts, m.id AS measurement, m.step_s, m.step_noise "
    "FROM candidates AS c "
    "JOIN sweeps AS s ON s.id = c.sweep_id LEFT JOIN retired_names AS n ON n.name = s.name "
    "LEFT JOIN trials AS t ON t.sweep_id = c.sweep_id AND t.number = c.number "
    "LEFT JOIN measurements AS m ON m.sweep_id = c.sweep_id AND m.trial = c.number) AS candidates";
}  // namespace

const std::string& SelectSweeps() {
  static const std::string* const kSelect = [] {
    std::string counts;
    for (const auto& [state, name] : kTrialStateNames) {
      absl::StrAppend(&counts, counts.empty() ? "" : " || ' ' || ",
                      "count(*) FILTER (WHERE state = '", AbslView(name), "')");
    }
    return new std::string(
        absl::StrCat("SELECT ", ColumnsOf<SweepRecord>(kRead),
                     ", (SELECT coalesce(max(sequence), 0) FROM events WHERE sweep_id = sweeps.id)",
                     // Counts all states in one scan of the sweep's trials.
                     ", (SELECT ", counts, " FROM trials WHERE sweep_id = sweeps.id)",
                     ", (SELECT count(*) FROM candidates WHERE sweep_id = sweeps.id)",
                     ", (SELECT count(*) FROM trials WHERE sweep_id = sweeps.id AND "
                     "reused_from <> '') FROM ",
                     AbslView(kSweepRows), " "));
  }();
  return *kSelect;
}

const std::string& SelectTrials() {
  static const auto* const kSelect = new std::string(
      absl::StrCat("SELECT ", ColumnsOf<TrialRecord>(kRead),
                   ", model_json, model, training_json FROM ", AbslView(kTrialRows), " "));
  return *kSelect;
}

const std::string& SelectBriefTrials() {
  static const auto* const kSelect = new std::string(
      absl::StrReplaceAll(
          absl::StrCat("SELECT ", ColumnsOf<TrialRecord>(kRead), ", '', '', '' FROM "),
          {{"plan_json", "''"},
           {"predicted_json", "''"},
           {"result_json", "CASE WHEN measurement IS NOT NULL THEN '' END"}}) +
      std::string(kTrialRows) + " ");
  return *kSelect;
}

const std::string& SelectPlans() {
  static const auto* const kSelect = new std::string(absl::StrCat(
      "SELECT plan_json, model_json, model, training_json FROM ", AbslView(kTrialRows), " "));
  return *kSelect;
}

const std::string& SelectTrialSummaries() { return RowsOf<TrialSummary>(kSummaryRows); }

const std::string& SelectAttempts() { return RowsOf<AttemptRecord>("attempts"); }

const std::string& SelectAttemptSummaries() { return RowsOf<AttemptSummary>("attempts"); }

const std::string& SelectMembers() {
  static const auto* const kSelect = new std::string(absl::StrCat(
      "SELECT ", ColumnsOf<AttemptMember>(kRead), ", trial, attempt FROM placements "));
  return *kSelect;
}

const std::string& SelectEvents() { return RowsOf<EventRecord>("events"); }

int64_t ToMicros(absl::Time time) { return absl::ToUnixMicros(time); }

SweepRecord ReadSweep(const SqliteStatement& row) {
  SweepRecord sweep;
  RowReader reader(row);
  VisitFields(sweep, reader);
  sweep.cluster_json = WithName(sweep.cluster_json, sweep.cluster);
  sweep.profile_json = WithName(sweep.profile_json, sweep.profile);
  int column = reader.column();
  sweep.last_sequence = row.Int(column++);
  const std::vector<std::string> counts = absl::StrSplit(row.Text(column++), ' ');
  for (size_t i = 0; i < std::min(counts.size(), kTrialStates); ++i) {
    if (!absl::SimpleAtoi(counts[i], &sweep.trial_counts[kTrialStateNames[i].first])) break;
  }
  sweep.candidates = static_cast<int32_t>(row.Int(column++));
  sweep.reused = static_cast<int32_t>(row.Int(column));
  return sweep;
}

TrialRecord ReadTrial(const SqliteStatement& row) {
  TrialRecord trial;
  RowReader reader(row);
  VisitFields(trial, reader);
  const int column = reader.column();
  trial.plan_json =
      JoinPlan(trial.plan_json, row.Text(column), row.Text(column + 1), row.Text(column + 2));
  return trial;
}

std::string ReadPlan(const SqliteStatement& row) {
  return JoinPlan(row.Text(0), row.Text(1), row.Text(2), row.Text(3));
}

AttemptRecord ReadAttempt(const SqliteStatement& row) { return ReadRow<AttemptRecord>(row); }

TrialSummary ReadTrialSummary(const SqliteStatement& row) { return ReadRow<TrialSummary>(row); }

AttemptSummary ReadAttemptSummary(const SqliteStatement& row) {
  return ReadRow<AttemptSummary>(row);
}

PlacedMember ReadMember(const SqliteStatement& row) {
  PlacedMember placed;
  RowReader reader(row);
  VisitFields(placed.member, reader);
  placed.trial = static_cast<int32_t>(row.Int(reader.column()));
  placed.attempt = static_cast<int32_t>(row.Int(reader.column() + 1));
  return placed;
}

EventRecord ReadEvent(const SqliteStatement& row) { return ReadRow<EventRecord>(row); }

absl::Status InsertSweep(SqliteConnection* connection, const SweepRecord& sweep) {
  return InsertRow(connection, "sweeps", sweep);
}

absl::Status InsertCandidate(SqliteConnection* connection, const TrialRecord& candidate) {
  RETURN_IF_ERROR(InsertRow<kWrittenOnce>(connection, "candidates", candidate));
  return candidate.is_open ? absl::OkStatus() : InsertRow(connection, "trials", candidate);
}

absl::Status InsertEvent(SqliteConnection* connection, const EventRecord& event) {
  return InsertRow(connection, "events", event);
}

}  // namespace meshwright::db
