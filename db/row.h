// Conversion between records and rows of the tables.
#pragma once

#include <cstdint>
#include <string>

#include "db/records.h"
#include "db/sqlite.h"

namespace meshwright::db {

int64_t ToMicros(absl::Time time);

// Return "SELECT ... FROM ..." of rows as the Read functions expect them, to be narrowed by WHERE
// and ORDER BY on the records' column names.
const std::string& SelectSweeps();
const std::string& SelectTrials();
// The same with '' in place of the texts.
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
// A member, with the trial and attempt that it belongs to.
struct PlacedMember {
  AttemptMember member;
  int32_t trial = 0;
  int32_t attempt = 0;
};
PlacedMember ReadMember(const SqliteStatement& row);
EventRecord ReadEvent(const SqliteStatement& row);

absl::Status InsertSweep(SqliteConnection* connection, const SweepRecord& sweep);
// Inserts a candidate, and its trial unless `is_open`. `plan_json` is the plan's own part.
absl::Status InsertCandidate(SqliteConnection* connection, const TrialRecord& candidate);
absl::Status InsertEvent(SqliteConnection* connection, const EventRecord& event);

}  // namespace meshwright::db
