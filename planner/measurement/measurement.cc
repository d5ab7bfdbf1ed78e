#include "planner/measurement/measurement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"
#include "planner/layout/keys.h"
#include "planner/measurement/csv.h"
#include "planner/spec/option_choice.h"

namespace meshwright::planner {
namespace {

// monostate: a cell of Measurement::other_cells.
using Field = std::variant<std::monostate, std::string Measurement::*, OptionalInt Measurement::*,
                           OptionalNumber Measurement::*, RunOutcome Measurement::*>;

// The range that a number in a column may have.
struct Range {
  double low = 0.0;
  double high = 0.0;
  std::string_view problem;  // of any other number
};
constexpr Range kCount{1.0, 1e15, "must be at least 1, or empty"};
constexpr Range kZeroStage{0.0, 3.0, "must be 0, 1, 2, 3 or empty"};
constexpr Range kPositive{1e-9, 1e12, "must be above 0 (1e-9 to 1e12), or empty"};
constexpr Range kMfu{1e-9, kMostMfu, "must be a fraction above 0 (0.45, not 45), or empty"};

struct Column {
  std::string_view name;
  Field field;
  Range range = {};  // of numbers
};

using M = Measurement;
constexpr std::array<Column, 41> kColumns = {{
    {"source", &M::source},
    {"sweep", &M::sweep},
    {"model", &M::model},
    {"layers", &M::layers, kCount},
    {"hidden", &M::hidden, kCount},
    {"ffn", &M::ffn, kCount},
    {"heads", &M::heads, kCount},
    {"kv_heads", &M::kv_heads, kCount},
    {"vocab", &M::vocab, kCount},
    {"seq", &M::seq, kCount},
    {"gpu", &M::gpu},
    {"gpu_mem_gib", &M::gpu_mem_gib, kPositive},
    {"gpus", &M::gpus, kCount},
    {"gpus_per_node", &M::gpus_per_node, kCount},
    {"tp", &M::tp, kCount},
    {"pp", &M::pp, kCount},
    {"cp", &M::cp, kCount},
    {"ep", &M::ep, kCount},
    {"etp", &M::etp, kCount},
    {"dp", &M::dp, kCount},
    {"vpp", &M::vpp, kCount},
    {"mbs", &M::mbs, kCount},
    {"gbs", &M::gbs, kCount},
    {"precision", &M::precision},
    {"act_ckpt", &M::act_ckpt},
    {"attn", &M::attn},
    {"norm_kernel", &M::norm_kernel},
    {"seq_parallel", &M::seq_parallel},
    {"zero_stage", &M::zero_stage, kZeroStage},
    {"hs", &M::hs, kCount},
    {"stages", &M::stages},
    {"offload", &M::offload},
    {"schedule", &M::schedule},
    {"framework", &M::framework},
    {"outcome", &M::outcome},
    {"step_time_s", &M::step_time_s, kPositive},
    {"mfu", &M::mfu, kMfu},
    {"tflops_per_gpu", &M::tflops_per_gpu, kPositive},
    {"tokens_per_s_per_gpu", &M::tokens_per_s_per_gpu, kPositive},
    {"peak_mem_gib", &M::peak_mem_gib, kPositive},
    {"notes", &M::notes},
}};

// Inserts a column for cells without a member of their own before another column.
void AddColumn(std::string_view name, std::string_view before, std::vector<Column>& columns) {
  const auto is = [](std::string_view wanted) {
    return [wanted](const Column& column) { return column.name == wanted; };
  };
  if (std::any_of(columns.begin(), columns.end(), is(name))) return;
  columns.insert(std::find_if(columns.begin(), columns.end(), is(before)),
                 Column{name, std::monostate()});
}

// Returns the columns of the format in the order of a header: the columns above, with the columns
// of layout keys that have no member after the other columns of a layout, and then the columns of a
// run's options.
const std::vector<Column>& Columns() {
  static const auto* const kAll = [] {
    auto* columns = new std::vector<Column>(kColumns.begin(), kColumns.end());
    for (const LayoutKey& key : kLayoutKeys) AddColumn(key.column, "schedule", *columns);
    for (const std::string_view option : OptionNames()) AddColumn(option, "framework", *columns);
    return columns;
  }();
  return *kAll;
}

const Column& ColumnOf(std::string_view name) {
  return *std::find_if(Columns().begin(), Columns().end(),
                       [&](const Column& column) { return column.name == name; });
}

OptionalNumber ReadNumber(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

// Sources that went through a table program write 8 as 8.0.
OptionalInt ReadInt(std::string_view text) {
  const OptionalNumber number = ReadNumber(text);
  if (!number || *number != std::floor(*number) || std::abs(*number) > 1e15) return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::optional<RunOutcome> ReadOutcome(std::string_view text) {
  if (text == "ok") return RunOutcome::kOk;
  if (text == "oom") return RunOutcome::kOom;
  if (text == "error") return RunOutcome::kError;
  return std::nullopt;
}

// Stores a value that was read from a cell. Returns what would be accepted if the value is wrong,
// and otherwise an empty text.
template <typename T>
std::string_view Take(const std::optional<T>& value, const Range& range, std::string_view kind,
                      std::optional<T>& field) {
  if (!value) return kind;
  const auto number = static_cast<double>(*value);
  if (number < range.low || number > range.high) return range.problem;
  field = value;
  return {};
}

// Writes a cell that is not empty. Returns what would be accepted if the cell can't be read, and
// otherwise an empty text.
std::string_view Fill(const Column& column, std::string_view cell, Measurement& row) {
  if (std::holds_alternative<std::monostate>(column.field)) {
    row.other_cells[std::string(column.name)] = std::string(cell);
    return {};
  }
  if (const auto* text = std::get_if<std::string M::*>(&column.field)) {
    row.*(*text) = std::string(cell);
    return {};
  }
  if (const auto* whole = std::get_if<OptionalInt M::*>(&column.field)) {
    return Take(ReadInt(cell), column.range, "must be a whole number or empty", row.*(*whole));
  }
  if (const auto* number = std::get_if<OptionalNumber M::*>(&column.field)) {
    return Take(ReadNumber(cell), column.range, "must be a number or empty", row.*(*number));
  }
  const std::optional<RunOutcome> outcome = ReadOutcome(cell);
  if (!outcome) return "must be ok, oom, error or empty";
  row.*std::get<RunOutcome M::*>(column.field) = *outcome;
  return {};
}

absl::Status CellError(std::string_view column, std::string_view value, std::string_view problem) {
  return FieldError(column, value.substr(0, 60), problem);
}

// The known column of each cell of the header; nullptr for the others.
absl::StatusOr<std::vector<const Column*>> ReadHeader(const CsvRecord& header) {
  std::vector<const Column*> columns;
  bool any = false;
  for (const std::string& name : header.cells) {
    const auto found = std::find_if(Columns().begin(), Columns().end(),
                                    [&](const Column& column) { return column.name == name; });
    columns.push_back(found == Columns().end() ? nullptr : &*found);
    if (columns.back() == nullptr) continue;
    any = true;
    if (std::count(columns.begin(), columns.end(), columns.back()) > 1) {
      return CellError("column", name, "stands in the header twice");
    }
  }
  if (!any) {
    return CellError("header", header.cells.empty() ? "" : header.cells.front(),
                     "names no column of the measurement format (source, sweep, model, layers, …, "
                     "with commas between them)");
  }
  return columns;
}

bool AnyFilled(const std::vector<std::string>& cells, size_t from) {
  return std::any_of(cells.begin() + static_cast<ptrdiff_t>(std::min(from, cells.size())),
                     cells.end(), [](const std::string& cell) { return !cell.empty(); });
}

Measurement ReadRow(const CsvRecord& record, const std::vector<const Column*>& columns) {
  const std::vector<std::string>& cells = record.cells;
  Measurement row;
  row.line = record.line;
  const auto note = [&row](const absl::Status& problem) {
    if (row.problem.empty()) row.problem = std::string(problem.message());
  };
  if (cells.size() < columns.size() || AnyFilled(cells, columns.size())) {
    note(CellError("cells", std::to_string(cells.size()),
                   "the header has " + std::to_string(columns.size()) +
                       "; a value with commas stands in quotes, and an unknown one is left empty"));
  }
  for (size_t i = 0; i < std::min(cells.size(), columns.size()); ++i) {
    if (columns[i] == nullptr || cells[i].empty()) continue;
    const std::string_view problem = Fill(*columns[i], cells[i], row);
    if (!problem.empty()) note(CellError(columns[i]->name, cells[i], problem));
  }
  return row;
}

std::string CellOf(std::string text) {
  std::replace(text.begin(), text.end(), '"', '\'');
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  text = EscapeControls(text);
  return text.find(',') == std::string::npos ? text : '"' + text + '"';
}

// The shortest text that is read as the same number.
std::string CellOf(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return std::string(text.data(), end);
}

std::string CellOf(int64_t number) { return std::to_string(number); }

std::string CellOf(RunOutcome outcome) {
  constexpr std::array<const char*, 4> kNames = {"", "ok", "oom", "error"};
  return kNames[static_cast<size_t>(outcome)];
}

template <typename T>
std::string CellOf(const std::optional<T>& value) {
  return value ? CellOf(*value) : std::string();
}

std::string TextOfCell(const Column& column, const Measurement& row) {
  return std::visit(
      [&](const auto member) -> std::string {
        if constexpr (std::is_same_v<decltype(member), const std::monostate>) {
          const auto found = row.other_cells.find(column.name);
          return found == row.other_cells.end() ? std::string() : CellOf(found->second);
        } else {
          return CellOf(row.*member);
        }
      },
      column.field);
}

std::string FormatRows(const std::vector<Measurement>& rows, const std::vector<Column>& columns) {
  std::string text;
  for (const Column& column : columns) {
    text += (text.empty() ? "" : ",") + std::string(column.name);
  }
  text += '\n';
  for (const Measurement& row : rows) {
    for (const Column& column : columns) {
      if (&column != columns.data()) text += ',';
      text += TextOfCell(column, row);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::vector<std::string> MeasurementColumnNames() {
  std::vector<std::string> names;
  for (const Column& column : Columns()) names.emplace_back(column.name);
  return names;
}

std::string CellText(const Measurement& row, std::string_view column) {
  return TextOfCell(ColumnOf(column), row);
}

OptionalInt WholeCell(const Measurement& row, std::string_view column) {
  return row.*std::get<OptionalInt M::*>(ColumnOf(column).field);
}

absl::Status SetCell(std::string_view column, std::string_view text, Measurement& row) {
  const std::string_view problem = Fill(ColumnOf(column), text, row);
  return problem.empty() ? absl::OkStatus() : CellError(column, text, problem);
}

void FillShapes(std::vector<Measurement>& rows) {
  for (OptionalInt M::*column : {&M::layers, &M::hidden, &M::ffn, &M::heads, &M::vocab}) {
    std::map<std::pair<std::string, std::string>, std::set<int64_t>> known;
    for (const Measurement& row : rows) {
      if (row.*column) known[{row.source, row.model}].insert(*(row.*column));
    }
    for (Measurement& row : rows) {
      if (row.*column || row.model.empty()) continue;
      const auto values = known.find({row.source, row.model});
      if (values != known.end() && values->second.size() == 1)
        row.*column = *values->second.begin();
    }
  }
}

std::string FormatMeasurements(const std::vector<Measurement>& rows) {
  return FormatRows(rows, Columns());
}

std::string IdentityOf(const Measurement& row) {
  std::vector<Column> columns;
  for (const Column& column : Columns()) {
    const bool has_member = !std::holds_alternative<std::monostate>(column.field);
    if (has_member || row.other_cells.count(column.name) > 0) columns.push_back(column);
  }
  return FormatRows({row}, columns);
}

std::vector<std::string> UnknownColumns(std::string_view text) {
  const std::vector<std::string> known = MeasurementColumnNames();
  std::vector<std::string> unknown;
  const std::vector<CsvRecord> header = ParseCsv(text.substr(0, text.find('\n')));
  for (const std::string& name : header.empty() ? std::vector<std::string>() : header[0].cells) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    unknown.push_back(
        absl::StrCat(name, " (nearest: ", absl::StrJoin(NearestNames(name, known), ", "), ")"));
  }
  return unknown;
}

absl::StatusOr<std::vector<Measurement>> ParseMeasurements(std::string_view text) {
  const std::vector<CsvRecord> records = ParseCsv(text);
  ASSIGN_OR_RETURN(const std::vector<const Column*> columns,
                   ReadHeader(records.empty() ? CsvRecord() : records.front()));
  std::vector<Measurement> rows;
  for (size_t i = 1; i < records.size(); ++i) rows.push_back(ReadRow(records[i], columns));
  return rows;
}

}  // namespace meshwright::planner
