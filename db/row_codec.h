// ReadRow() and InsertRow() map structs with fields (planner/codec/fields.h) to rows of a table.
// Each field is the column of the same name. An absl::Time is stored in microseconds since 1970, in
// a column whose name ends in `_time_us`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "db/sqlite.h"
#include "planner/codec/fields.h"

namespace meshwright::db {

// These bits say whether a field is read, and whether it is written when a row is inserted. Fields
// that are only read are numbers that the store assigns, and columns that transitions set. Fields
// that never change may be in a second table, which is called the record's other table.
inline constexpr planner::TextParts kWritten = 1;
inline constexpr planner::TextParts kRead = 2;
inline constexpr planner::TextParts kWrittenOnce = 4;  // written to the record's other table

// Returns a field that is read, but not written when a row is inserted.
constexpr planner::Field ReadOnly(planner::Field field) { return InParts(kRead, field); }

// Returns a field that is in the record's own table only.
constexpr planner::Field Changing(planner::Field field) { return InParts(kRead | kWritten, field); }

// Returns a field that is in the record's other table only.
constexpr planner::Field Once(planner::Field field) { return InParts(kRead | kWrittenOnce, field); }

// Collects the names of the columns of `parts`, in the order of the fields: "name, state, ...".
class ColumnNames {
 public:
  explicit ColumnNames(planner::TextParts parts) : parts_(parts) {}

  template <typename T, typename... Names>
  void operator()(const planner::Field& field, const T& value, const Names&...) {
    if ((field.parts & parts_) == 0) return;
    if constexpr (planner::HasFields<const T>) {
      VisitFields(value, *this);
    } else {
      absl::StrAppend(&names_, count_++ > 0 ? ", " : "", AbslView(field.name));
    }
  }
  template <typename T>
  void operator()(const planner::Field& field, const std::optional<T>&) {
    (*this)(field, T{});
  }

  const std::string& names() const { return names_; }
  int count() const { return count_; }

 private:
  const planner::TextParts parts_;
  std::string names_;
  int count_ = 0;
};

// Reads the columns of a row in the order of ColumnNames(kRead).
class RowReader {
 public:
  explicit RowReader(const SqliteStatement& row) : row_(row) {}

  template <typename T>
  void operator()(const planner::Field& field, T& value) {
    if ((field.parts & kRead) != 0) Read(value);
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, T& value, const Names& names) {
    if ((field.parts & kRead) == 0) return;
    // Columns of enumerators' names have CHECK constraints, so that their values always parse.
    if (absl::StatusOr<T> read = planner::ParseBy(names, field.name, row_.Text(column_++));
        read.ok()) {
      value = *std::move(read);
    }
  }

  // Returns the index of the first column that was not read yet.
  int column() const { return column_; }

 private:
  void Read(std::string& value) { value = row_.Text(column_++); }
  void Read(double& value) { value = row_.Real(column_++); }
  void Read(bool& value) { value = row_.Int(column_++) != 0; }
  void Read(absl::Time& value) { value = absl::FromUnixMicros(row_.Int(column_++)); }
  template <typename T>
  void Read(T& value) {
    if constexpr (planner::HasFields<T>) {
      VisitFields(value, *this);
    } else {
      static_assert(std::is_integral_v<T>);
      value = static_cast<T>(row_.Int(column_++));
    }
  }
  // A struct is present if its first column is not NULL.
  template <typename T>
  void Read(std::optional<T>& value) {
    T read{};
    const bool there = !row_.IsNull(column_);
    Read(read);
    if (there) value = std::move(read);
  }

  const SqliteStatement& row_;
  int column_ = 0;
};

// Binds the columns of `parts`, in the order of ColumnNames(parts).
class RowBinder {
 public:
  RowBinder(SqliteStatement& statement, planner::TextParts parts)
      : statement_(statement), parts_(parts) {}

  template <typename T>
  void operator()(const planner::Field& field, const T& value) {
    if ((field.parts & parts_) == 0) return;
    if (field.present) {
      Bind(value);
    } else {
      statement_.BindNull();
    }
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, const T& value, const Names& names) {
    if ((field.parts & parts_) != 0)
      statement_.Bind(std::string_view(planner::TextBy(names, value)));
  }

 private:
  void Bind(const std::string& value) { statement_.Bind(std::string_view(value)); }
  void Bind(double value) { statement_.Bind(value); }
  void Bind(absl::Time value) { statement_.Bind(absl::ToUnixMicros(value)); }
  template <typename T>
  void Bind(const T& value) {
    if constexpr (planner::HasFields<const T>) {
      VisitFields(value, *this);
    } else {
      static_assert(std::is_integral_v<T>);
      statement_.Bind(static_cast<int64_t>(value));
    }
  }
  // Binds one column. Optional structs have several columns, but only transitions set these.
  template <typename T>
  void Bind(const std::optional<T>& value) {
    if (value.has_value()) {
      Bind(*value);
    } else {
      statement_.BindNull();
    }
  }

  SqliteStatement& statement_;
  const planner::TextParts parts_;
};

template <typename Record>
std::string ColumnsOf(planner::TextParts parts) {
  ColumnNames columns(parts);
  const Record record{};
  VisitFields(record, columns);
  return columns.names();
}

template <typename Record>
Record ReadRow(const SqliteStatement& row) {
  Record record{};
  RowReader reader(row);
  VisitFields(record, reader);
  return record;
}

template <typename Record>
std::string InsertInto(absl::string_view table, planner::TextParts parts) {
  ColumnNames columns(parts);
  const Record record{};
  VisitFields(record, columns);
  std::string places = "?";
  for (int i = 1; i < columns.count(); ++i) places += ", ?";
  return absl::StrCat("INSERT INTO ", table, " (", columns.names(), ") VALUES (", places, ")");
}

// Inserts a row. REQUIRES: all calls with the same Record and parts pass the same `table`, since
// the statement's text is made only once.
template <planner::TextParts kParts = kWritten, typename Record>
absl::Status InsertRow(SqliteConnection* connection, absl::string_view table,
                       const Record& record) {
  static const auto* const kInsert = new std::string(InsertInto<Record>(table, kParts));
  ASSIGN_OR_RETURN(SqliteStatement insert, connection->Prepare(*kInsert));
  RowBinder binder(insert, kParts);
  VisitFields(record, binder);
  return insert.Run();
}

}  // namespace meshwright::db
