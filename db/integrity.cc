#include "db/integrity.h"

#include "absl/strings/str_cat.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

// "ok", or what is wrong, one row each. Damage that stops the check itself is a finding, too.
absl::StatusOr<std::vector<std::string>> RunCheck(SqliteConnection* connection,
                                                  std::string_view pragma) {
  absl::StatusOr<std::vector<std::string>> found = connection->QueryTexts(pragma);
  if (absl::IsDataLoss(found.status())) {
    return std::vector<std::string>{std::string(found.status().message())};
  }
  RETURN_IF_ERROR(found.status());
  std::erase(*found, "ok");
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
                   ") and stays as it is: put a copy of it in its place, or save what can be read "
                   "with `sqlite3 ",
                   path, " .recover | sqlite3 NEW` and serve NEW; `meshwright db check --db ", path,
                   "` lists all that is wrong"));
}

}  // namespace meshwright
