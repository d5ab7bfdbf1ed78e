// These functions convert between the store's records and rows of its tables.
#pragma once

#include <cstdint>
#include <string>

#include "db/records.h"
#include "db/sqlite.h"

namespace meshwright::db {

// Returns `time` in microseconds since 1970.
int64_t ToMicros(absl::Time time);

// Each Select function returns "SELECT ... FROM ..." with the columns that the Read function of the
// same record expects. Callers append WHERE and ORDER BY clauses on the record's column names.
const std::string& SelectSweeps();
const std::string& SelectTrials();
// SelectBriefTrials() has '' in place of the plan, the prediction and the result.
const std::string& SelectBriefTrials();
const std::string& SelectPlans();
const std::string& SelectAttempts();
const std::string& SelectTrialSummaries();
const std::string& SelectAttemptSummaries();
const std::string& SelectMembers();
const std::string& SelectEvents();

SweepRecord ReadSweep(const SqliteStatement& row);
TrialRecord ReadTrial(const SqliteStatement& row);
std::string ReadPlan(const SqliteStatement& row);
AttemptRecord ReadAttempt(const SqliteStatement& row);
TrialSummary ReadTrialSummary(const SqliteStatement& row);
AttemptSummary ReadAttemptSummary(const SqliteStatement& row);
// A member, with the trial and the attempt to which it belongs.
struct PlacedMember {
  AttemptMember member;
  int32_t trial = 0;
  int32_t attempt = 0;
};
PlacedMember ReadMember(const SqliteStatement& row);
EventRecord ReadEvent(const SqliteStatement& row);

absl::Status InsertSweep(SqliteConnection* connection, const SweepRecord& sweep);
// Inserts a candidate and, unless it `is_open`, its trial. REQUIRES: the candidate's `plan_json` is
// PlanParts::own (db/shapes.h).
absl::Status InsertCandidate(SqliteConnection* connection, const TrialRecord& candidate);
absl::Status InsertEvent(SqliteConnection* connection, const EventRecord& event);

}  // namespace meshwright::db
