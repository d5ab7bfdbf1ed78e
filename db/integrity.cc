#include "db/integrity.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/status_macros.h"

namespace meshwright::db {
namespace {

// SQLite answers "ok" or the findings, several lines to a row, the first of which may be a title.
void AddFindings(const std::string& row, std::vector<std::string>& found) {
  for (const absl::string_view line : absl::StrSplit(row, '\n', absl::SkipWhitespace())) {
    if (line != "ok" && !absl::StartsWith(line, "***")) found.emplace_back(line);
  }
}

absl::StatusOr<std::vector<std::string>> RunCheck(SqliteConnection* connection,
                                                  std::string_view pragma) {
  std::vector<std::string> found;
  absl::StatusOr<SqliteStatement> check = connection->Prepare(pragma);
  absl::StatusOr<bool> row = check.ok() ? check->Step() : check.status();
  for (; row.ok() && *row; row = check->Step()) AddFindings(check->Text(0), found);
  if (row.ok()) return found;
  // Damage that stops the check is a finding too.
  if (!absl::IsDataLoss(row.status())) return row.status();
  found.emplace_back(row.status().message());
  return found;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindDamage(SqliteConnection* connection) {
  return RunCheck(connection, "PRAGMA integrity_check");
}

absl::StatusOr<std::vector<std::string>> DanglingReferences(SqliteConnection* connection) {
  ASSIGN_OR_RETURN(SqliteStatement keys, connection->Prepare("PRAGMA foreign_key_check"));
  std::vector<std::string> dangling;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, keys.Step());
    if (!row) return dangling;
    dangling.push_back(
        absl::StrCat("a row of ", keys.Text(0), " refers to a missing row of ", keys.Text(2)));
  }
}

absl::Status CheckIsWhole(SqliteConnection* connection) {
  ASSIGN_OR_RETURN(const std::vector<std::string> damage,
                   RunCheck(connection, "PRAGMA quick_check(1)"));
  if (damage.empty()) return absl::OkStatus();
  const std::string& path = connection->path();
  return absl::DataLossError(
      absl::StrCat("database ", path, " is damaged (", damage.front(),
                   ") and was not changed: replace it with a backup, or save what can be read "
                   "with `sqlite3 ",
                   path, " .recover | sqlite3 NEW` and serve NEW; `meshwright db check --db ", path,
                   "` lists all that is wrong"));
}

}  // namespace meshwright::db
