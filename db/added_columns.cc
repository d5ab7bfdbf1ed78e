#include "db/added_columns.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"

namespace meshwright::db {
namespace {

absl::StatusOr<std::vector<std::string>> PresentColumns(SqliteConnection* connection,
                                                        absl::string_view table) {
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection->Prepare(absl::StrCat("SELECT name FROM pragma_table_info('", table, "')")));
  std::vector<std::string> columns;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return columns;
    columns.emplace_back(select.Text(0));
  }
}

}  // namespace

absl::Status AddColumns(SqliteConnection* connection, absl::string_view table,
                        const std::vector<AddedColumn>& columns, absl::string_view condition) {
  if (columns.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::Begin(connection));
  ASSIGN_OR_RETURN(const std::vector<std::string> present, PresentColumns(connection, table));
  std::string values;
  std::string unknown;
  for (const auto& [name, type, value] : columns) {
    if (std::find(present.begin(), present.end(), name) == present.end()) {
      RETURN_IF_ERROR(connection->Execute(
          absl::StrCat("ALTER TABLE ", table, " ADD COLUMN ", name, " ", type)));
    }
    absl::StrAppend(&values, values.empty() ? "" : ", ", name, " = ", value);
    absl::StrAppend(&unknown, unknown.empty() ? "" : " OR ", name, " IS NULL");
  }
  RETURN_IF_ERROR(connection->Execute(absl::StrCat("UPDATE ", table, " SET ", values, " WHERE (",
                                                   condition, ") AND (", unknown, ")")));
  return transaction.Commit();
}

}  // namespace meshwright::db
