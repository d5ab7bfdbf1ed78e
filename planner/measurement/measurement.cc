#include "planner/measurement/measurement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <variant>

#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

using Field = std::variant<std::string Measurement::*, OptionalInt Measurement::*,
                           OptionalNumber Measurement::*, Outcome Measurement::*>;

struct Column {
  std::string_view name;
  Field field;
};

using M = Measurement;
constexpr std::array<Column, 37> kColumns = {{
    {"source", &M::source},
    {"sweep", &M::sweep},
    {"model", &M::model},
    {"layers", &M::layers},
    {"hidden", &M::hidden},
    {"ffn", &M::ffn},
    {"heads", &M::heads},
    {"kv_heads", &M::kv_heads},
    {"vocab", &M::vocab},
    {"seq", &M::seq},
    {"gpu", &M::gpu},
    {"gpu_mem_gib", &M::gpu_mem_gib},
    {"gpus", &M::gpus},
    {"gpus_per_node", &M::gpus_per_node},
    {"tp", &M::tp},
    {"pp", &M::pp},
    {"cp", &M::cp},
    {"ep", &M::ep},
    {"dp", &M::dp},
    {"vpp", &M::vpp},
    {"mbs", &M::mbs},
    {"gbs", &M::gbs},
    {"precision", &M::precision},
    {"act_ckpt", &M::act_ckpt},
    {"attn", &M::attn},
    {"norm_kernel", &M::norm_kernel},
    {"seq_parallel", &M::seq_parallel},
    {"zero_stage", &M::zero_stage},
    {"schedule", &M::schedule},
    {"framework", &M::framework},
    {"outcome", &M::outcome},
    {"step_time_s", &M::step_time_s},
    {"mfu", &M::mfu},
    {"tflops_per_gpu", &M::tflops_per_gpu},
    {"tokens_per_s_per_gpu", &M::tokens_per_s_per_gpu},
    {"peak_mem_gib", &M::peak_mem_gib},
    {"notes", &M::notes},
}};

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Takes what stands before the next `separator` off the front of `text`.
std::string_view Take(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

// Takes the next cell off the front of `line`; a quoted one may hold commas.
std::string_view TakeCell(std::string_view& line) {
  const std::string_view start = Trim(line);
  if (!start.starts_with('"')) return Trim(Take(line, ','));
  const size_t end = start.find('"', 1);
  if (end == std::string_view::npos) return Trim(Take(line, ','));
  const std::string_view quoted = start.substr(1, end - 1);
  line = start.substr(end + 1);
  Take(line, ',');
  return quoted;
}

std::vector<std::string_view> Cells(std::string_view line) {
  std::vector<std::string_view> cells;
  // A comma at the end stands before an empty cell.
  const bool open = Trim(line).ends_with(',');
  while (!line.empty()) cells.push_back(TakeCell(line));
  if (open || cells.empty()) cells.push_back({});
  return cells;
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

std::optional<Outcome> ReadOutcome(std::string_view text) {
  if (text == "ok") return Outcome::kOk;
  if (text == "oom") return Outcome::kOom;
  if (text == "error") return Outcome::kError;
  return std::nullopt;
}

// Writes a cell that is not empty; returns what it should have been, or empty where it could be
// read.
std::string_view Fill(const Field& field, std::string_view cell, Measurement& row) {
  if (const auto* text = std::get_if<std::string M::*>(&field)) {
    row.*(*text) = std::string(cell);
    return {};
  }
  if (const auto* whole = std::get_if<OptionalInt M::*>(&field)) {
    row.*(*whole) = ReadInt(cell);
    return row.*(*whole) ? "" : "must be a whole number or empty";
  }
  if (const auto* number = std::get_if<OptionalNumber M::*>(&field)) {
    row.*(*number) = ReadNumber(cell);
    return row.*(*number) ? "" : "must be a number or empty";
  }
  const std::optional<Outcome> outcome = ReadOutcome(cell);
  if (!outcome) return "must be ok, oom, error or empty";
  row.*std::get<Outcome M::*>(field) = *outcome;
  return {};
}

absl::Status LineError(int64_t line, std::string_view column, std::string_view value,
                       std::string_view problem) {
  const std::string where = "line " + std::to_string(line) + " " + std::string(column);
  return FieldError(where, value.substr(0, 60), problem);
}

// The known column of each cell of the header; nullptr for the others.
absl::StatusOr<std::vector<const Column*>> ReadHeader(std::string_view line) {
  std::vector<const Column*> columns;
  bool any = false;
  for (const std::string_view name : Cells(line)) {
    const auto* found = std::find_if(kColumns.begin(), kColumns.end(),
                                     [&](const Column& column) { return column.name == name; });
    columns.push_back(found == kColumns.end() ? nullptr : found);
    if (columns.back() == nullptr) continue;
    any = true;
    if (std::count(columns.begin(), columns.end(), found) > 1) {
      return LineError(1, "column", name, "stands in the header twice");
    }
  }
  if (!any) {
    return LineError(1, "header", line,
                     "names no column of the measurement format (source, sweep, model, layers, …)");
  }
  return columns;
}

Measurement ReadRow(int64_t number, std::string_view line,
                    const std::vector<const Column*>& columns) {
  const std::vector<std::string_view> cells = Cells(line);
  Measurement row;
  const auto note = [&row](const absl::Status& problem) {
    if (row.problem.empty()) row.problem = std::string(problem.message());
  };
  if (cells.size() != columns.size()) {
    note(LineError(number, "cells", std::to_string(cells.size()),
                   "the header has " + std::to_string(columns.size()) +
                       "; a value with commas stands in quotes, and an unknown one is left empty"));
  }
  for (size_t i = 0; i < std::min(cells.size(), columns.size()); ++i) {
    if (columns[i] == nullptr || cells[i].empty()) continue;
    const std::string_view problem = Fill(columns[i]->field, cells[i], row);
    if (!problem.empty()) note(LineError(number, columns[i]->name, cells[i], problem));
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

std::string CellOf(Outcome outcome) {
  constexpr std::array<const char*, 4> kNames = {"", "ok", "oom", "error"};
  return kNames[static_cast<size_t>(outcome)];
}

template <typename T>
std::string CellOf(const std::optional<T>& value) {
  return value ? CellOf(*value) : std::string();
}

}  // namespace

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
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  ASSIGN_OR_RETURN(const std::vector<const Column*> columns, ReadHeader(Take(text, '\n')));
  std::vector<Measurement> rows;
  for (int64_t number = 2; !text.empty(); ++number) {
    const std::string_view line = Take(text, '\n');
    if (Trim(line).empty()) continue;
    rows.push_back(ReadRow(number, line, columns));
  }
  return rows;
}

}  // namespace meshwright
