// Measurement is a published training run: one layout that someone ran, and its result.
//
// The CSV has a header line that names the columns in any order. Unknown columns are ignored, and
// missing ones are empty. Callers may rely on each number being possible for a run: counts are at
// least one, times and sizes are positive. The parser does not check whether the numbers of a row
// agree with each other. The planner can't model a row whose numbers contradict each other, but
// such a row is no reason to refuse the file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::planner {

// The end of a training run, as far as its row tells.
enum class RunOutcome : uint8_t {
  kUnknown,  // the cell is empty
  kOk,
  kOom,
  kError,  // the run failed for another reason than memory
};

using OptionalInt = std::optional<int64_t>;
using OptionalNumber = std::optional<double>;

// Texts are as the source wrote them. An empty text and a number without a value are unknown.
struct Measurement {
  std::string source;
  // Runs of one study that differ in their layouts have the same sweep. Reports group rows by it.
  std::string sweep;
  std::string model;
  OptionalInt layers;
  OptionalInt hidden;
  OptionalInt ffn;
  OptionalInt heads;
  OptionalInt kv_heads;
  OptionalInt vocab;
  OptionalInt seq;
  std::string gpu;
  OptionalNumber gpu_mem_gib;
  OptionalInt gpus;
  OptionalInt gpus_per_node;
  OptionalInt tp;
  OptionalInt pp;
  OptionalInt cp;
  OptionalInt ep;
  OptionalInt etp;  // if empty, ExpertTensorRanksOf() decides
  OptionalInt dp;
  OptionalInt vpp;
  OptionalInt mbs;
  OptionalInt gbs;
  std::string precision;
  std::string act_ckpt;
  std::string attn;
  std::string norm_kernel;
  std::string seq_parallel;
  OptionalInt zero_stage;
  OptionalInt hs;       // HSDP: ranks among which ZeRO divides states; empty: all of dp * cp
  std::string stages;   // layers of each virtual stage; empty: the framework's own split
  std::string offload;  // in the syntax of a layout's text; empty: nothing is moved
  std::string schedule;
  std::string framework;
  RunOutcome outcome = RunOutcome::kUnknown;
  OptionalNumber step_time_s;
  OptionalNumber mfu;  // a fraction, by the definition of the source
  OptionalNumber tflops_per_gpu;
  OptionalNumber tokens_per_s_per_gpu;
  OptionalNumber peak_mem_gib;
  std::string notes;
  // Holds the cells that have no member above, by column: cells of layout keys
  // (planner/layout/keys.h) and of a run's options (planner/spec/option_choice.h).
  std::map<std::string, std::string, std::less<>> other_cells;
  std::string file;  // the row's file, for messages; the caller of ParseMeasurements() sets it
  int64_t line = 0;  // line of the row in its file, from 1
  // Describes the first cell that is unreadable or has an impossible value, with its column; empty
  // if there is no such cell. A row with a problem is kept but not modelled.
  std::string problem;
};

// Returns the columns of the format in the order in which a header lists them. The columns of a
// run's options follow the columns of the layout (planner/spec/option_choice.h).
std::vector<std::string> MeasurementColumnNames();

// Returns the cell of a column as FormatMeasurements() writes it; empty if it is unknown. REQUIRES:
// the format has the column.
std::string CellText(const Measurement& row, std::string_view column);
// Returns the number of a column. REQUIRES: it is a column of whole numbers.
OptionalInt WholeCell(const Measurement& row, std::string_view column);
// Sets the cell of a column. Returns InvalidArgument about the column if the text is not one of its
// values. REQUIRES: the format has the column.
absl::Status SetCell(std::string_view column, std::string_view text, Measurement& row);

// The largest MFU that a row may have. An understated peak can lift an MFU above 1, but not this
// far. If an MFU is larger, it was given in percent, or the row's time is not that of a step.
inline constexpr double kMostMfu = 5.0;

// Returns one measurement for each record after the header, as ParseCsv() reads them. A row with a
// cell that can't be read keeps its other cells and has a `problem`. A row with non-empty cells
// beyond the header also has a `problem`. Returns InvalidArgument if the header has no known column
// or has a column twice.
absl::StatusOr<std::vector<Measurement>> ParseMeasurements(std::string_view text);

// Returns the columns of the text's header that the format does not have. Each comes with the known
// columns that it may be meant for: "step_s (nearest: step_time_s)".
std::vector<std::string> UnknownColumns(std::string_view text);

// Fills empty columns of a model's shape (layers, hidden, ffn, heads, vocab), because a table often
// gives them only once. The value comes from other rows of the same source and model. All rows that
// give the value must agree on it.
void FillShapes(std::vector<Measurement>& rows);

// Returns a header with every column and one line for each row, which ParseMeasurements() reads
// again. Texts with commas are quoted. Quotes become ' and line ends become blanks, because the
// format can't hold them. Control characters, which a terminal would obey, are escaped.
std::string FormatMeasurements(const std::vector<Measurement>& rows);

// Returns a text that identifies the row: two rows with the same text have the same contents. A
// program whose format has more columns returns the same text for a row that does not fill them in.
std::string IdentityOf(const Measurement& row);

}  // namespace meshwright::planner
