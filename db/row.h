// How records and rows of the tables correspond.
#pragma once

#include <cstdint>
#include <string>

#include "db/records.h"
#include "db/sqlite.h"

namespace meshwright::db {

int64_t ToMicros(absl::Time time);

// "SELECT ... FROM ... ": rows as the Read functions expect them, to be narrowed by WHERE and ORDER
// BY with the names of the records' columns.
const std::string& SelectSweeps();
const std::string& SelectTrials();
// The same with '' for the texts.
const std::string& SelectBriefTrials();
const std::string& SelectPlans();
const std::string& SelectAttempts();
const std::string& SelectTrialSummaries();
const std::string& SelectAttemptHeads();
const std::string& SelectMembers();
const std::string& SelectEvents();

SweepRecord ReadSweep(const SqliteStatement& row);
TrialRecord ReadTrial(const SqliteStatement& row);
std::string ReadPlan(const SqliteStatement& row);
AttemptRecord ReadAttempt(const SqliteStatement& row);
TrialSummary ReadTrialSummary(const SqliteStatement& row);
AttemptHead ReadAttemptHead(const SqliteStatement& row);
// A member, and which attempt it is one of.
struct PlacedMember {
  AttemptMember member;
  int32_t trial = 0;
  int32_t attempt = 0;
};
PlacedMember ReadMember(const SqliteStatement& row);
EventRecord ReadEvent(const SqliteStatement& row);

absl::Status InsertSweep(SqliteConnection* connection, const SweepRecord& sweep);
// A candidate, and its trial unless that is open. `plan_json` is the plan's own part.
absl::Status InsertCandidate(SqliteConnection* connection, const TrialRecord& candidate);
absl::Status InsertEvent(SqliteConnection* connection, const EventRecord& event);

}  // namespace meshwright::db
