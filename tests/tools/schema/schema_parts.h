// SchemaPart<T> is specialised here for the structs that commands print. It says as which message a
// struct is sent, and under which name parts.json describes it, if it does.
#pragma once

#include "meshwright/v1/agents.pb.h"
#include "meshwright/v1/planner.pb.h"
#include "meshwright/v1/standby.pb.h"
#include "meshwright/v1/sweeps.pb.h"
#include "planner/catalog/cluster_fields.h"
#include "planner/interchange/export_fields.h"
#include "planner/interchange/import_fields.h"
#include "planner/report/cluster_preset.h"
#include "planner/report/model_preset.h"
#include "planner/report/profile_preset.h"
#include "planner/report/replay_fields.h"
#include "planner/report/schedule_fields.h"
#include "planner/report/validation_fields.h"
#include "tests/tools/schema/schema_writer.h"
#include "tools/cli/common/agent_fields.h"
#include "tools/cli/plan/answer_text.h"
#include "tools/cli/standby/standby_fields.h"
#include "tools/cli/sweep/history_fields.h"
#include "tools/cli/sweep/plan_fields.h"
#include "tools/cli/sweep/sweep_comparison.h"
#include "tools/cli/sweep/sweep_fields.h"

namespace meshwright::cli {

template <typename Message_>
struct SentAs : NoSchemaPart {
  static const google::protobuf::Descriptor* Message() { return Message_::descriptor(); }
};

template <>
struct SchemaPart<planner::StageMemory> : SentAs<v1::MemoryEstimate> {
  static constexpr std::string_view kName = "memory";
};
template <>
struct SchemaPart<planner::TimeEstimate> : SentAs<v1::TimeEstimate> {
  static constexpr std::string_view kName = "time";
};
template <>
struct SchemaPart<planner::RankedLayout> : SentAs<v1::LayoutEstimate> {
  static constexpr std::string_view kName = "layout";
};
template <>
struct SchemaPart<planner::Funnel> : SentAs<v1::Funnel> {
  static constexpr std::string_view kName = "funnel";
};
template <>
struct SchemaPart<planner::PresetEvidence> : SentAs<v1::PresetEvidence> {
  static constexpr std::string_view kName = "evidence";
};
template <>
struct SchemaPart<planner::ModelPreset> : SentAs<v1::ModelPreset> {};
template <>
struct SchemaPart<planner::ClusterPreset> : SentAs<v1::ClusterPreset> {};
template <>
struct SchemaPart<planner::ProfilePreset> : SentAs<v1::ProfilePreset> {};
template <>
struct SchemaPart<planner::RestsOn> : SentAs<v1::RestsOn> {
  static constexpr std::string_view kName = "rests_on";
};
template <>
struct SchemaPart<planner::SlowerPart> : SentAs<v1::SlowerPart> {
  static constexpr std::string_view kName = "slower_part";
};
template <>
struct SchemaPart<RequestText> : SentAs<v1::PlanRequest> {
  static constexpr std::string_view kName = "request";
};

template <>
struct SchemaPart<RecommendRequestText> : SentAs<v1::RecommendRequest> {};
template <>
struct SchemaPart<ScaleRequestText> : SentAs<v1::ScaleRequest> {};
template <>
struct SchemaPart<StudyRequestText> : SentAs<v1::StudyRequest> {};
template <>
struct SchemaPart<FastestRequestText> : SentAs<v1::FastestRequest> {};
template <>
struct SchemaPart<FitRequestText> : SentAs<v1::FitRequest> {};

template <>
struct SchemaPart<RecommendText> : SentAs<v1::RecommendResponse> {};
template <>
struct SchemaPart<EstimateText> : SentAs<v1::EstimateResponse> {};
template <>
struct SchemaPart<CompareText> : SentAs<v1::CompareResponse> {};
template <>
struct SchemaPart<ScaleText> : SentAs<v1::ScaleResponse> {};
template <>
struct SchemaPart<StudyText> : SentAs<v1::StudyResponse> {};
template <>
struct SchemaPart<FastestText> : SentAs<v1::FastestResponse> {};
template <>
struct SchemaPart<FitText> : SentAs<v1::FitResponse> {};

template <>
struct SchemaPart<planner::ExportAnswer> : SentAs<v1::ExportResponse> {};
template <>
struct SchemaPart<planner::ExportedFile> : SentAs<v1::FrameworkFile> {};
template <>
struct SchemaPart<planner::ImportAnswer> : SentAs<v1::ImportResponse> {};
template <>
struct SchemaPart<planner::ImportedRequest> : SentAs<v1::ImportedRequest> {};
template <>
struct SchemaPart<planner::ImportedEntry> : SentAs<v1::ImportedEntry> {};
template <>
struct SchemaPart<planner::ScheduleAnswer> : SentAs<v1::ScheduleResponse> {};
template <>
struct SchemaPart<planner::ScheduledRank> : SentAs<v1::ScheduledRank> {};
template <>
struct SchemaPart<planner::LayerKind> : SentAs<v1::LayerKind> {};
template <>
struct SchemaPart<planner::OperatorTime> : SentAs<v1::OperatorTime> {};

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
struct SchemaPart<StandbyLagText> : SentAs<v1::StandbyLag> {};
template <>
struct SchemaPart<MissingResultText> : SentAs<v1::MissingResult> {};
template <>
struct SchemaPart<StandingText> : SentAs<v1::GetStandingResponse> {};
template <>
struct SchemaPart<TakenOverText> : SentAs<v1::TakeOverResponse> {};

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

template <>
struct SchemaPart<planner::ReplayText> : NoSchemaPart {
  static constexpr std::string_view kOnlyTrue = "relatives";
};

}  // namespace meshwright::cli
