#include "planner/measurement/measurement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/measurement/csv.h"

namespace meshwright::planner {
namespace {

using Field = std::variant<std::string Measurement::*, OptionalInt Measurement::*,
                           OptionalNumber Measurement::*, RunOutcome Measurement::*>;

// What a number of a column may be.
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

// Takes what was read of a cell; returns what the cell should have been, or empty.
template <typename T>
std::string_view Take(const std::optional<T>& value, const Range& range, std::string_view kind,
                      std::optional<T>& field) {
  if (!value) return kind;
  const auto number = static_cast<double>(*value);
  if (number < range.low || number > range.high) return range.problem;
  field = value;
  return {};
}

// Writes a cell that is not empty; returns what it should have been, or empty where it could be
// read.
std::string_view Fill(const Column& column, std::string_view cell, Measurement& row) {
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
    const auto* found = std::find_if(kColumns.begin(), kColumns.end(),
                                     [&](const Column& column) { return column.name == name; });
    columns.push_back(found == kColumns.end() ? nullptr : found);
    if (columns.back() == nullptr) continue;
    any = true;
    if (std::count(columns.begin(), columns.end(), found) > 1) {
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

}  // namespace

OptionalInt Measurement::*AxisColumn(const AxisField& axis) {
  const auto* column = std::find_if(kColumns.begin(), kColumns.end(),
                                    [&](const Column& other) { return other.name == axis.name; });
  return std::get<OptionalInt M::*>(column->field);
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
  std::string text;
  for (const Column& column : kColumns) {
    text += (text.empty() ? "" : ",") + std::string(column.name);
  }
  text += '\n';
  for (const Measurement& row : rows) {
    for (const Column& column : kColumns) {
      if (&column != kColumns.data()) text += ',';
      text += std::visit([&](const auto member) { return CellOf(row.*member); }, column.field);
    }
    text += '\n';
  }
  return text;
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
