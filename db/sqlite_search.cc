// SqliteSweeps: searching measurements.
#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "db/condition_sql.h"
#include "db/figure_range.h"
#include "db/row.h"
#include "db/sqlite_sweeps.h"

namespace meshwright::db {
namespace {

// An order of rows, and the indexes that have that order.
struct OrderSql {
  absl::string_view figure;
  absl::string_view direction;
  absl::string_view behind;  // comparison of a figure with one before it in the order
  absl::string_view before;  // comparison of a figure with one behind it
  double first;              // no figure comes before it
  absl::string_view index;
};

const OrderSql& SqlOf(MeasurementOrder order) {
  static constexpr OrderSql kMfu = {.figure = FigureColumn(MeasurementOrder::kMfu),
                                    .direction = "DESC",
                                    .behind = "<",
                                    .before = ">",
                                    .first = std::numeric_limits<double>::infinity(),
                                    .index = "measurements_by_mfu"};
  static constexpr OrderSql kStepTime = {.figure = FigureColumn(MeasurementOrder::kStepTime),
                                         .direction = "ASC",
                                         .behind = ">",
                                         .before = "<",
                                         .first = -std::numeric_limits<double>::infinity(),
                                         .index = "measurements_by_step"};
  return order == MeasurementOrder::kMfu ? kMfu : kStepTime;
}

// Chooses the index explicitly, as it decides the running time; SQLite has no statistics here and
// would guess.
absl::string_view IndexFor(const MeasurementQuery& query) {
  if (query.sweep_id) return "measurements_by_trial";
  return FixesModelClusterAndOutcome(query.where) ? "measurements_by_model"
                                                  : SqlOf(query.order).index;
}

// Returns SQL for the rows with the figure, or those without, behind the place (?1, ?2) and, where
// `ends`, up to the place (?4, ?5): first the part that an index evaluates, then the part that is
// evaluated per row.
std::pair<std::string, std::string> BetweenSql(const OrderSql& order, bool with_figure, bool ends) {
  if (!with_figure) {
    return {absl::StrCat(order.figure, " IS NULL AND ?1 IS NULL AND id > ?2",
                         ends ? " AND ?4 IS NULL AND id <= ?5" : ""),
            "1"};
  }
  std::pair<std::string, std::string> sql = {
      absl::StrCat(order.figure, " ", order.behind, "= ?1"),
      absl::StrCat("(", order.figure, " ", order.behind, " ?1 OR id > ?2)")};
  if (ends) {
    absl::StrAppend(&sql.first, " AND ", order.figure, " ", order.before, "= ?4");
    absl::StrAppend(&sql.second, " AND (", order.figure, " ", order.before, " ?4 OR id <= ?5)");
  }
  return sql;
}

// Reads a row of an id and a figure.
MeasurementPlace ReadPlace(const SqliteStatement& row) {
  MeasurementPlace place = {.id = row.Int(0)};
  if (!row.IsNull(1)) place.figure = row.Real(1);
  return place;
}

// Chosen, not derived: sampled rows, evenly spaced by id, show well enough how many rows are
// between two places.
constexpr int64_t kSampledRows = 64;
constexpr size_t kSamplesPerStretch = 4;

}  // namespace

absl::StatusOr<bool> SqliteSweeps::MayBeMet(const planner::Condition& where) {
  for (const FacetTable& facet : kFacetTables) {
    const planner::Condition part = PartAbout(facet.facet, where);
    if (part.holds_always()) continue;
    const ConditionSql sql = CompileCondition(part, SearchedTable::kFacet, /*first_parameter=*/1);
    ASSIGN_OR_RETURN(SqliteStatement select,
                     connection_->PrepareOnce(absl::StrCat("SELECT 1 FROM ", AbslView(facet.table),
                                                           " WHERE (", sql.text, ") LIMIT 1")));
    sql.BindTo(select);
    ASSIGN_OR_RETURN(const bool there, select.Step());
    if (!there) return false;
  }
  return true;
}

absl::Status SqliteSweeps::ReadPlaces(const MeasurementQuery& query, bool with_figure,
                                      std::vector<MeasurementPlace>& places) {
  const bool from_place = query.after.has_value() && query.after->figure.has_value() == with_figure;
  const bool to_place = query.until.has_value() && query.until->figure.has_value() == with_figure;
  const OrderSql& order = SqlOf(query.order);
  const ConditionSql where = CompileCondition(query.where, SearchedTable::kMeasurements,
                                              /*first_parameter=*/to_place ? 6 : 4,
                                              /*bounded=*/FigureColumn(query.order));
  const auto [found, left] = BetweenSql(order, with_figure, to_place);
  // The conditions are in the order in which SQLite evaluates them: `where` rejects most rows, and
  // its columns precede the source in an index.
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection_->PrepareOnce(absl::StrCat(
          "SELECT id, ", order.figure, " FROM measurements INDEXED BY ", IndexFor(query), " WHERE ",
          found, " AND (", where.text, ") AND ", left, " AND ",
          query.sweep_id ? "sweep_id = ?3" : "?3 IS NULL", " ORDER BY ",
          with_figure ? absl::StrCat(order.figure, " ", order.direction, ", id") : "id", " LIMIT ",
          query.limit - static_cast<int32_t>(places.size()))));
  if (with_figure) {
    select.Bind(from_place ? *query.after->figure : order.first);
  } else {
    select.BindNull();
  }
  select.Bind(from_place ? query.after->id : int64_t{0}).Bind(query.sweep_id);
  if (to_place) select.Bind(query.until->figure).Bind(query.until->id);
  where.BindTo(select);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return absl::OkStatus();
    places.push_back(ReadPlace(select));
  }
}

absl::StatusOr<std::vector<MeasurementPlace>> SqliteSweeps::FindPlaces(
    const MeasurementQuery& everywhere) {
  const MeasurementQuery query = WithinRange(everywhere);
  std::vector<MeasurementPlace> places;
  if (!query.after || query.after->figure) {
    RETURN_IF_ERROR(ReadPlaces(query, /*with_figure=*/true, places));
  }
  if (static_cast<int32_t>(places.size()) < query.limit && (!query.until || !query.until->figure)) {
    RETURN_IF_ERROR(ReadPlaces(query, /*with_figure=*/false, places));
  }
  return places;
}

absl::StatusOr<std::vector<MeasurementPlace>> SqliteSweeps::SamplePlaces(
    const MeasurementQuery& query, int64_t most_rows) {
  ASSIGN_OR_RETURN(const int64_t first,
                   connection_->QueryInt("SELECT coalesce(min(id), 0) FROM measurements"));
  ASSIGN_OR_RETURN(const int64_t last,
                   connection_->QueryInt("SELECT coalesce(max(id), 0) FROM measurements"));
  std::vector<MeasurementPlace> places;
  if (last - first < most_rows) return places;
  const std::string sql = absl::StrCat("SELECT id, ", SqlOf(query.order).figure,
                                       " FROM measurements WHERE id >= ? ORDER BY id LIMIT 1");
  for (int64_t i = 0; i < kSampledRows; ++i) {
    ASSIGN_OR_RETURN(SqliteStatement select, connection_->Prepare(sql));
    select.Bind(first + (last - first) * i / kSampledRows);
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) break;
    const MeasurementPlace place = ReadPlace(select);
    const bool behind = !query.after || ComesBefore(query.order, *query.after, place);
    const bool ahead = !query.until || ComesBefore(query.order, place, *query.until);
    if (behind && ahead) places.push_back(place);
  }
  std::sort(places.begin(), places.end(),
            [&](const auto& a, const auto& b) { return ComesBefore(query.order, a, b); });
  // An index finds a figure, and then all rows with it are read: stretches that begin at two places
  // with the same figure would read those rows twice.
  const auto same = [](const MeasurementPlace& a, const MeasurementPlace& b) {
    return a == b || (a.figure.has_value() && a.figure == b.figure);
  };
  places.erase(std::unique(places.begin(), places.end(), same), places.end());
  return places;
}

absl::StatusOr<std::vector<MeasurementQuery>> SqliteSweeps::StretchesOf(
    const MeasurementQuery& everywhere, int64_t most_rows) {
  const MeasurementQuery query = WithinRange(everywhere);
  std::vector<MeasurementQuery> stretches;
  // Without this, every row would be read to see that none matches.
  ASSIGN_OR_RETURN(const bool may_be_met, MayBeMet(query.where));
  if (!may_be_met) return stretches;
  stretches.push_back(query);
  // Without a condition the first rows fill the answer.
  if (query.where.holds_always() || IndexFor(query) != SqlOf(query.order).index) return stretches;
  ASSIGN_OR_RETURN(const std::vector<MeasurementPlace> places, SamplePlaces(query, most_rows));
  // The caller alone searches the first stretch. It is short, and enough where many rows match.
  for (size_t i = 1; i < places.size(); i += kSamplesPerStretch) {
    stretches.back().until = places[i];
    stretches.push_back(query);
    stretches.back().after = places[i];
  }
  return stretches;
}

absl::StatusOr<MeasuredRow> SqliteSweeps::ReadMeasuredRow(const MeasurementPlace& place,
                                                          bool with_texts) {
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection_->Prepare("SELECT m.source, m.sweep_id, m.trial, m.model, m.cluster, m.devices, "
                           "s.name, s.seed, m.seq_len, m.global_batch FROM measurements AS m LEFT "
                           "JOIN sweeps AS s ON s.id = "
                           "m.sweep_id WHERE m.id = ?"));
  select.Bind(place.id);
  ASSIGN_OR_RETURN(const bool there, select.Step());
  if (!there) return absl::NotFoundError("the sweep was deleted");
  MeasuredRow row;
  row.place = place;
  ASSIGN_OR_RETURN(row.source, KindOf(kMeasurementSourceNames, "source", select.Text(0)));
  row.model = select.Text(3);
  row.cluster = select.Text(4);
  row.devices = select.Int(5);
  row.seq_len = select.Int(8);
  row.global_batch = select.Int(9);
  if (row.source == MeasurementSource::kImported) {
    RETURN_IF_ERROR(ReadImport(row));
    return row;
  }
  row.sweep = select.Text(6);
  row.seed = static_cast<uint64_t>(select.Int(7));
  ASSIGN_OR_RETURN(
      row.trial, ReadTrialByNumber(select.Int(1), static_cast<int32_t>(select.Int(2)), with_texts));
  return row;
}

absl::StatusOr<std::vector<MeasuredRow>> SqliteSweeps::ReadMeasured(
    const std::vector<MeasurementPlace>& places, bool with_texts) {
  std::vector<MeasuredRow> rows;
  for (const MeasurementPlace& place : places) {
    absl::StatusOr<MeasuredRow> row = ReadMeasuredRow(place, with_texts);
    // Deleted meanwhile.
    if (absl::IsNotFound(row.status())) continue;
    RETURN_IF_ERROR(row.status());
    rows.push_back(*std::move(row));
  }
  return rows;
}

absl::StatusOr<std::vector<MeasuredRow>> SqliteSweeps::ListMeasured(const MeasurementQuery& query) {
  ASSIGN_OR_RETURN(const bool may_be_met, MayBeMet(query.where));
  if (!may_be_met) return std::vector<MeasuredRow>();
  ASSIGN_OR_RETURN(const std::vector<MeasurementPlace> places, FindPlaces(query));
  return ReadMeasured(places, query.with_texts);
}

}  // namespace meshwright::db
