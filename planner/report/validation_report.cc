#include "planner/report/validation_report.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "absl/strings/str_format.h"

namespace meshwright::planner {
namespace {

// Returns the shortest text that reads back as the same number, so that probabilities close to 1
// stay distinct.
std::string Number(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

// Returns a text as a cell of a format without quotes.
std::string Cell(std::string text) {
  std::replace(text.begin(), text.end(), ',', ';');
  std::replace(text.begin(), text.end(), '"', '\'');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::string RowsToCsv(absl::Span<const RowPrediction> rows) {
  std::string csv =
      "row,sweep,peak_bytes,fraction_of_device,oom_probability,step_s,mfu,reason,"
      "step_low_s,step_high_s,measured_step_s,level,measured,peak_low_bytes,"
      "peak_high_bytes,measured_peak_bytes\n";
  for (const RowPrediction& row : rows) {
    absl::StrAppendFormat(&csv, "%d,%s,", row.row, Cell(row.sweep));
    if (row.predicted) {
      const Prediction& p = *row.predicted;
      csv += std::to_string(p.peak_bytes);
      for (const double value : {p.fraction_of_device, p.oom_probability, p.step_s, p.mfu}) {
        csv += "," + Number(value);
      }
      csv += ",";
    } else {
      csv += ",,,,,";
    }
    csv += Cell(row.reason) + ",";
    if (row.predicted) csv += Number(row.predicted->step_low_s);
    csv += ",";
    if (row.predicted) csv += Number(row.predicted->step_high_s);
    csv += ",";
    if (row.step_s) csv += Number(*row.step_s);
    csv += ",";
    if (row.predicted) csv += EvidenceLevelName(row.predicted->level);
    csv += row.given ? ",1," : ",0,";
    if (row.predicted) csv += std::to_string(row.predicted->peak_low_bytes);
    csv += ",";
    if (row.predicted) csv += std::to_string(row.predicted->peak_high_bytes);
    csv += ",";
    if (row.peak_bytes) csv += Number(*row.peak_bytes);
    csv += "\n";
  }
  return csv;
}

}  // namespace meshwright::planner
