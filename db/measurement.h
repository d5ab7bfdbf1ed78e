// What trials measured, as it is searched: rows of one narrow table, without plans and results.
//
// A condition may be about the columns of MeasurementFields(). A comparison with a value that a row
// does not have, such as the MFU of a trial out of memory, does not hold; `not` of it does.
#pragma once

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

// Where a row comes from: a trial that ran, one that took an earlier one's result, or a file.
enum class MeasurementSource : uint8_t { kRan, kReused, kImported };

inline constexpr EnumNames<MeasurementSource, 3> kMeasurementSourceNames = {{
    {MeasurementSource::kRan, "ran"},
    {MeasurementSource::kReused, "reused"},
    {MeasurementSource::kImported, "imported"},
}};

// What many rows have in common, and a table of its own has each of once.
enum class MeasurementFacet : uint8_t {
  kNone,
  kLayout,    // table `layouts`
  kSettings,  // table `settings`: what was trained on what
  kOrigin,    // table `origins`: who measured it, and what came of it
};

// A column that conditions may name.
struct MeasurementColumn {
  std::string_view name;  // in the table, and in its facet's
  bool may_be_null = false;
  MeasurementFacet facet = MeasurementFacet::kNone;
  bool in_facet_alone = false;  // the facet's table has it, and `measurements` does not
};

// What conditions may be about, and the columns of these in the same order.
const planner::ConditionFields& MeasurementFields();
const std::vector<MeasurementColumn>& MeasurementColumns();

// InvalidArgument about `name` says where the text is wrong and what would be accepted there.
absl::StatusOr<planner::Condition> ParseMeasurementCondition(std::string_view name,
                                                             std::string_view text);

// A key of a layout as a column has it: a whole number, a text, or nothing.
using KeyValue = std::variant<std::monostate, int64_t, std::string>;

// One for each of planner::kLayoutKeys: nothing where the layout's text can't be read.
std::vector<KeyValue> KeyValues(std::string_view layout);

// Best first, rows without the figure last, equals by age.
enum class MeasurementOrder : uint8_t { kMfu, kStepTime };

// The column of the figure that an order goes by.
constexpr const char* FigureColumn(MeasurementOrder order) {
  return order == MeasurementOrder::kMfu ? "mfu" : "step_s";
}

// Where a row stands in an order.
struct MeasurementPlace {
  int64_t id = 0;
  std::optional<double> figure = {};  // that it is ordered by

  friend bool operator==(const MeasurementPlace&, const MeasurementPlace&) = default;
};

bool ComesBefore(MeasurementOrder order, const MeasurementPlace& a, const MeasurementPlace& b);

struct MeasurementQuery {
  std::optional<int64_t> sweep_id = {};  // none: all sweeps
  planner::Condition where = {};
  MeasurementOrder order = MeasurementOrder::kMfu;
  std::optional<MeasurementPlace> after = {};  // none: from the first
  std::optional<MeasurementPlace> until = {};  // the last place that is of interest; none: all
  int32_t limit = 0;
  bool with_texts = true;  // the trials' plans, predictions and results
};

// What a measurement from elsewhere has in place of a sweep and a trial.
struct ImportedRun {
  std::string row_hash;   // of what the row says
  std::string origin;     // who measured it
  std::string sweep;      // what the row belongs to there; none of this store's
  std::string framework;  // that ran it
  std::string notes;
  absl::Time import_time;
  std::string actor;  // who imported it; empty where nobody was asked

  friend bool operator==(const ImportedRun&, const ImportedRun&) = default;
};

// A row of a file, to be stored: its model, cluster and training by their hashes as sweeps have
// them. No worker of this project measured it, so that it has no worker's version.
struct NewImport {
  ImportedRun run;
  std::string model;  // names
  std::string cluster;
  std::string model_hash;
  std::string cluster_hash;
  std::string training_hash;
  int64_t devices = 0;
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  std::string precision;
  std::string layout;
  TrialState outcome = TrialState::kOk;  // a final one
  std::optional<double> mfu;
  std::optional<double> step_s;
  std::optional<int64_t> peak_bytes;
};

// What has to be the same for a result to be one of a new sweep, too: shapes by their hashes.
struct ResultShape {
  std::string model_hash;
  std::string cluster_hash;
  std::string training_hash;
  std::string worker_version;
  int64_t devices = 0;
  std::optional<int64_t> memory_limit_bytes;
  uint64_t seed = 0;
  int32_t steps = 0;      // the earlier trial was to run as many or more
  bool adaptive = false;  // whether fewer will do, as they then may have for the earlier trial
};

// A result of a trial that ran, ok or out of memory.
struct EarlierResult {
  std::string trial;  // its name, as "sweep/trials/number"
  std::string layout;
  TrialState state = TrialState::kOk;
  std::string reason;
  MeasuredTrial measured;
};

// What a sweep is about, by which related sweeps are found.
struct SweepShape {
  int64_t id = 0;
  std::string name;
  std::string model;  // shapes; the first is empty where its plans have none
  std::string cluster;
  std::string cluster_hash;
  std::string profile_hash;
  int64_t devices = 0;
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  std::string precision;
};

// A step time beside what was predicted of it.
struct PredictedResult {
  std::string layout;
  double predicted_step_s = 0.0;
  double step_s = 0.0;
  double step_noise = 0.0;  // as in MeasuredTrial; 0 where it is not known
};

// A trial that was measured, or a run from elsewhere: that has no sweep, no seed and no number, and
// of `trial` only the layout, the state and the figures.
struct MeasuredRow {
  MeasurementPlace place;
  MeasurementSource source = MeasurementSource::kRan;
  std::optional<ImportedRun> imported;  // where the source is kImported
  std::string sweep;                    // its name
  std::string model;
  std::string cluster;
  int64_t devices = 0;
  uint64_t seed = 0;
  TrialRecord trial;
};

}  // namespace meshwright::db
