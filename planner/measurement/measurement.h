// Published training runs: one layout that someone ran, and what came of it.
//
// The CSV has a header line that names the columns, in any order; columns that are not known here
// are ignored and absent ones are empty. Callers may rely on every number being one that a run can
// have by itself: counts of at least one, positive times and sizes. Whether the numbers of a row go
// together was not checked, for a row that makes no sense is one that the planner can't model, not
// a reason to refuse the file.
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

// How a training run ended, as far as its row tells.
enum class RunOutcome : uint8_t {
  kUnknown,  // the cell is empty
  kOk,
  kOom,
  kError,  // failed for another reason than memory
};

using OptionalInt = std::optional<int64_t>;
using OptionalNumber = std::optional<double>;

// Texts are as the source wrote them; an empty one is unknown, and so is a number without a value.
struct Measurement {
  std::string source;
  std::string sweep;  // rows that vary one layout; reports go by it
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
  OptionalInt etp;  // empty: 1, or what the notes say
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
  std::string stages;   // layers of each virtual stage; empty: the framework's own
  std::string offload;  // as a layout's text has it; empty: nothing
  std::string schedule;
  std::string framework;
  RunOutcome outcome = RunOutcome::kUnknown;
  OptionalNumber step_time_s;
  OptionalNumber mfu;  // a fraction, by the definition of the source
  OptionalNumber tflops_per_gpu;
  OptionalNumber tokens_per_s_per_gpu;
  OptionalNumber peak_mem_gib;
  std::string notes;
  // Cells of those layout keys (planner/layout/keys.h) that no member above holds, by column.
  std::map<std::string, std::string, std::less<>> other_keys;
  std::string file;  // where the row stands, for messages; set by who read the file
  int64_t line = 0;
  // The first cell that could not be read or holds what no run can have, with its column: such a
  // row is kept and not modelled.
  std::string problem;
};

// The cell of a column as FormatMeasurements() writes it; empty where it is unknown. REQUIRES: a
// column of the format.
std::string CellText(const Measurement& row, std::string_view column);
// The same of a column of whole numbers.
OptionalInt WholeCell(const Measurement& row, std::string_view column);
// Fills the cell. InvalidArgument about the column where the text is none of its values.
absl::Status SetCell(std::string_view column, std::string_view text, Measurement& row);

// Far beyond what the worst statement of a peak explains: such an MFU is a percentage, or its time
// is not of this run.
inline constexpr double kMostMfu = 5.0;

// One measurement per record after the header, as ParseCsv() reads them. A row with a cell that
// can't be read keeps the others and says so in `problem`; cells beyond the header must be empty.
// InvalidArgument for a header without known columns or with one twice.
absl::StatusOr<std::vector<Measurement>> ParseMeasurements(std::string_view text);

// Fills empty columns of a model's shape (layers, hidden, ffn, heads, vocab) from other rows of the
// same source and model, where those that have them agree: a table often says them once.
void FillShapes(std::vector<Measurement>& rows);

// A header with every column and one line per row, as ParseMeasurements() reads them again. A text
// with a comma is quoted; quotes and line ends, which the format has no room for, become ' and a
// blank.
std::string FormatMeasurements(const std::vector<Measurement>& rows);

}  // namespace meshwright::planner
