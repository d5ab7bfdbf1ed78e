// How records and rows of the tables correspond.
#pragma once

#include <cstdint>
#include <string>

#include "db/records.h"
#include "db/sqlite.h"

namespace meshwright::db {

int64_t ToMicros(absl::Time time);

// Columns in the order in which the Read functions expect them.
const std::string& SweepColumns();
const std::string& TrialColumns();
// The same columns with '' for the texts.
const std::string& BriefTrialColumns();
const std::string& AttemptColumns();
const std::string& TrialHeadColumns();
const std::string& AttemptHeadColumns();
const std::string& EventColumns();

SweepRecord ReadSweep(const SqliteStatement& row);
TrialRecord ReadTrial(const SqliteStatement& row);
AttemptRecord ReadAttempt(const SqliteStatement& row);
TrialHead ReadTrialHead(const SqliteStatement& row);
AttemptHead ReadAttemptHead(const SqliteStatement& row);
EventRecord ReadEvent(const SqliteStatement& row);

absl::Status InsertSweep(SqliteConnection* connection, const SweepRecord& sweep);
absl::Status InsertTrial(SqliteConnection* connection, const TrialRecord& trial);
absl::Status InsertEvent(SqliteConnection* connection, const EventRecord& event);

}  // namespace meshwright::db
