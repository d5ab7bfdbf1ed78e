// What trials, sweeps and agents are sent as, and what of them and of commands' own answers stands
// in parts.json.
#pragma once

#include "meshwright/v1/agents.pb.h"
#include "meshwright/v1/sweeps.pb.h"
#include "planner/catalog/cluster_fields.h"
#include "planner/report/validation_fields.h"
#include "tests/tools/schema/answer_parts.h"
#include "tools/cli/common/agent_fields.h"
#include "tools/cli/sweep/history_fields.h"
#include "tools/cli/sweep/plan_fields.h"
#include "tools/cli/sweep/sweep_comparison.h"
#include "tools/cli/sweep/sweep_fields.h"

namespace meshwright::cli {

template <>
struct SchemaPart<planner::UserLayoutReport> : SentAs<v1::Standing> {
  static constexpr std::string_view kName = "standing";
};
template <>
struct SchemaPart<trial::RankResult> : SentAs<v1::RankMeasurement> {
  static constexpr std::string_view kName = "rank";
};
template <>
struct SchemaPart<trial::TrialResult> : SentAs<v1::Measurement> {
  static constexpr std::string_view kName = "result";
};
template <>
struct SchemaPart<SweepText> : SentAs<v1::Sweep> {
  static constexpr std::string_view kName = "sweep";
};
template <>
struct SchemaPart<TrialText> : SentAs<v1::Trial> {
  static constexpr std::string_view kName = "trial";
};
template <>
struct SchemaPart<CandidateText> : SentAs<v1::Candidate> {
  static constexpr std::string_view kName = "candidate";
};
template <>
struct SchemaPart<EventText> : SentAs<v1::SweepEvent> {};
template <>
struct SchemaPart<SweepPlanText> : SentAs<v1::SweepPlan> {};
template <>
struct SchemaPart<AttemptText> : SentAs<v1::Attempt> {};
template <>
struct SchemaPart<ImportedRunText> : SentAs<v1::ImportedRun> {};
template <>
struct SchemaPart<ImportedFileText> : SentAs<v1::ImportMeasurementsResponse> {};
template <>
struct SchemaPart<AgentText> : SentAs<v1::Agent> {};

template <>
struct SchemaPart<planner::Calibration> : NoSchemaPart {
  static constexpr std::string_view kName = "calibration";
  static constexpr std::string_view kSentence = "A fit";
};
template <>
struct SchemaPart<planner::LinkProfile> : NoSchemaPart {
  static constexpr std::string_view kName = "link";
  static constexpr std::string_view kSentence = "A link as one rank sees it";
};
template <>
struct SchemaPart<planner::ClusterSpec> : NoSchemaPart {
  static constexpr std::string_view kName = "cluster";
  static constexpr std::string_view kSentence = "A cluster file, which --cluster takes";
};
template <>
struct SchemaPart<planner::UnreadableRow> : NoSchemaPart {
  static constexpr std::string_view kName = "unreadable_row";
  static constexpr std::string_view kSentence = "A row of measurements that could not be read";
};
template <>
struct SchemaPart<planner::Refusal> : NoSchemaPart {
  static constexpr std::string_view kName = "refusal";
  static constexpr std::string_view kSentence = "Why rows could be read and not modelled";
};
template <>
struct SchemaPart<ComparedTrial> : NoSchemaPart {
  static constexpr std::string_view kName = "compared_trial";
  static constexpr std::string_view kSentence =
      "A trial that ended by itself, as sweeps are compared";
};
template <>
struct SchemaPart<TimeChange> : NoSchemaPart {
  static constexpr std::string_view kName = "time_change";
  static constexpr std::string_view kSentence =
      "How a step's time changed from one sweep to another";
};
template <>
struct SchemaPart<OnlyThere> : NoSchemaPart {
  static constexpr std::string_view kName = "only_there";
  static constexpr std::string_view kSentence =
      "Layouts that ended by themselves in one of two sweeps alone";
};

}  // namespace meshwright::cli
