// MeasuredRow is a trial's measurement. Searches for measurements read one narrow table, which has
// no plans and results.
//
// A condition may name the columns of MeasurementFields(). If a row lacks the value that a
// comparison needs, such as the MFU of a trial that ran out of memory, the comparison is false, and
// its negation is true.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "db/records.h"
#include "planner/layout/condition.h"

namespace meshwright::db {

// The origin of a row: a trial that ran, a trial that took an earlier trial's result, an imported
// file, or a caller who ran a trial that it had asked for.
enum class MeasurementSource : uint8_t { kRan, kReused, kImported, kTold };

inline constexpr EnumNames<MeasurementSource, 4> kMeasurementSourceNames = {{
    {MeasurementSource::kRan, "ran"},
    {MeasurementSource::kReused, "reused"},
    {MeasurementSource::kImported, "imported"},
    {MeasurementSource::kTold, "told"},
}};

// A facet is a group of columns whose values many rows share. Each facet but kNone has a table,
// which holds each combination of these values once.
enum class MeasurementFacet : uint8_t {
  kNone,
  kLayout,    // table `layouts`
  kSettings,  // table `settings`: the model, the cluster, the devices and the batch
  kOrigin,    // table `origins`: the source, the worker version and the outcome
  kOptions,   // table `training_options`: the run's options
};

struct FacetTable {
  MeasurementFacet facet = MeasurementFacet::kNone;
  std::string_view table;
  // The column of `measurements` that refers to a row of the table; empty if only several columns
  // together refer to a row.
  std::string_view key;
};
inline constexpr std::array<FacetTable, 4> kFacetTables = {{
    {MeasurementFacet::kLayout, "layouts", "layout"},
    {MeasurementFacet::kSettings, "settings", ""},
    {MeasurementFacet::kOrigin, "origins", ""},
    {MeasurementFacet::kOptions, "training_options", "training_hash"},
}};

// A column that conditions may name.
struct MeasurementColumn {
  // The column's name, in table `measurements` and in the facet's table.
  std::string_view name;
  bool may_be_null = false;
  MeasurementFacet facet = MeasurementFacet::kNone;
  bool in_facet_alone = false;  // only the facet's table has the column; FacetTable::key is set
};

// Returns the fields that conditions may name.
const planner::ConditionFields& MeasurementFields();
// Returns the columns of MeasurementFields(), in the same order.
const std::vector<MeasurementColumn>& MeasurementColumns();

// Parses a condition on MeasurementFields(). Returns InvalidArgument naming `name` if the text is
// no condition; the message says where the text is wrong and what would be accepted there.
absl::StatusOr<planner::Condition> ParseMeasurementCondition(std::string_view name,
                                                             std::string_view text);

// The value that a column has for one key of a layout: a whole number, a text, or nothing.
using KeyValue = std::variant<std::monostate, int64_t, std::string>;

// Returns a value for each of planner::kLayoutKeys. All values are empty if the layout's text can't
// be parsed.
std::vector<KeyValue> KeyValues(std::string_view layout);

// The figure by which rows are ordered. The best row comes first, and rows without the figure come
// last. Among rows with equal figures, the oldest comes first.
enum class MeasurementOrder : uint8_t { kMfu, kStepTime };

// Returns the column whose values the order sorts by.
constexpr const char* FigureColumn(MeasurementOrder order) {
  return order == MeasurementOrder::kMfu ? "mfu" : "step_s";
}

// A row's position in an order (MeasurementOrder).
struct MeasurementPlace {
  int64_t id = 0;
  std::optional<double> figure = {};  // the figure by which the row is ordered, if it has one

  friend bool operator==(const MeasurementPlace&, const MeasurementPlace&) = default;
};

bool ComesBefore(MeasurementOrder order, const MeasurementPlace& a, const MeasurementPlace& b);

struct MeasurementQuery {
  std::optional<int64_t> sweep_id = {};  // nullopt: all sweeps
  planner::Condition where = {};
  MeasurementOrder order = MeasurementOrder::kMfu;
  std::optional<MeasurementPlace> after = {};  // nullopt: from the first place
  // The last place that is returned; nullopt: up to the last row.
  std::optional<MeasurementPlace> until = {};
  int32_t limit = 0;
  bool with_texts = true;  // whether to read the trials' plans, predictions and results
};

// The origin of an imported measurement, which has no sweep and no trial in this store.
struct ImportedRun {
  std::string row_hash;  // of the values in the file's row
  std::string origin;    // who measured the run
  std::string sweep;     // the sweep that the file names; not a sweep of this store
  // The framework that ran the measured training.
  std::string framework;
  std::string notes;
  absl::Time import_time;
  std::string actor;  // who imported it; empty if callers need not authenticate

  friend bool operator==(const ImportedRun&, const ImportedRun&) = default;
};

// A row of a file that is to be stored. Its model, cluster and training have the same hashes as in
// sweeps. It has no worker version, since no worker of this project measured it.
struct NewImport {
  ImportedRun run;
  std::string model;    // name
  std::string cluster;  // name
  std::string model_hash;
  std::string cluster_hash;
  std::string training_hash;
  std::string training_json;  // source of the stored options; empty: all have their defaults
  int64_t devices = 0;
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  std::string precision;
  std::string layout;
  TrialState outcome = TrialState::kOk;  // a final one
  std::optional<double> mfu;
  std::optional<double> step_s;
  std::optional<int64_t> peak_bytes;
  // Whether the row says that Meshwright exported it. The row may then be a trial of this store.
  bool exported = false;
};

// The properties that a new sweep and an earlier trial must share before the sweep may reuse the
// trial's result. Shapes are given by their hashes.
struct ResultShape {
  std::string model_hash;
  std::string cluster_hash;
  std::string training_hash;
  std::string worker_version;
  int64_t devices = 0;
  std::optional<int64_t> memory_limit_bytes;
  uint64_t seed = 0;
  // The number of steps of the new sweep. The sweep of the earlier trial must have at least as
  // many.
  int32_t steps = 0;
  // If true, trials of the new sweep may run fewer steps. Otherwise the earlier trial must also
  // have run a fixed number of steps.
  bool adaptive = false;
};

// A result of a trial that ran, ok or out of memory.
struct EarlierResult {
  std::string trial;  // name, as "sweep/trials/number"
  std::string layout;
  TrialState state = TrialState::kOk;
  std::string reason;
  MeasuredTrial measured;
};

// The properties of a sweep by which related sweeps are found.
struct SweepShape {
  int64_t id = 0;
  std::string name;
  std::string model;     // the model's shape; empty if the sweep's plans have no model
  std::string training;  // the training's shape; empty if the sweep's plans have none
  std::string cluster;   // the cluster's shape
  std::string cluster_hash;
  std::string profile_hash;
  int64_t devices = 0;
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  std::string precision;
  std::string runner;  // as in SweepRecord
};

// A measured step time and the predicted one.
struct PredictedResult {
  std::string layout;
  double predicted_step_s = 0.0;
  double step_s = 0.0;
  double step_noise = 0.0;  // as in MeasuredTrial; 0 if it is not known
};

// A measured trial or an imported run. An imported run has no sweep and no seed, and its `trial`
// has only the layout, the state and the figures.
struct MeasuredRow {
  MeasurementPlace place;
  MeasurementSource source = MeasurementSource::kRan;
  std::optional<ImportedRun> imported;  // set if the source is kImported
  std::string sweep;                    // its name
  std::string model;
  std::string cluster;
  int64_t devices = 0;
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  uint64_t seed = 0;
  TrialRecord trial;
};

}  // namespace meshwright::db
