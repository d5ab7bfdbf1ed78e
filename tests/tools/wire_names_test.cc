// The same thing has the same name on the wire as in the JSON that commands print: both are made by
// one visit of its fields, which is held to the messages here.
//
// What only the wire or only the text has is said where the field is visited.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "meshwright/v1/agents.pb.h"
#include "meshwright/v1/planner.pb.h"
#include "meshwright/v1/standby.pb.h"
#include "meshwright/v1/sweeps.pb.h"
#include "planner/interchange/export_fields.h"
#include "planner/interchange/import_fields.h"
#include "planner/report/schedule_fields.h"
#include "tests/executor/wire/message_names.h"
#include "tools/cli/common/agent_fields.h"
#include "tools/cli/plan/answer_text.h"
#include "tools/cli/standby/standby_fields.h"
#include "tools/cli/sweep/history_fields.h"
#include "tools/cli/sweep/plan_fields.h"
#include "tools/cli/sweep/sweep_fields.h"

namespace meshwright::cli {
namespace {

using wire::ExpectSameFields;

struct Exception {
  std::string_view field;  // "Trial.name"
  std::string_view reason;
};

// Fields of messages whose values have another form in texts.
constexpr Exception kOtherForms[] = {
    {"PlanRequest.model", "an answer repeats the name alone"},
    {"PlanRequest.cluster", "an answer repeats the name alone"},
    {"PlanRequest.framework", "an answer repeats the name alone"},
    {"Agent.running", "the trial's name alone"},
    {"Agent.running_beside", "the trials' names alone"},
    {"Agent.cluster_json", "the file itself, whose text is on the wire"},
};

// Keys that have another name on the wire.
constexpr Exception kOtherNames[] = {
    {"Agent.cluster", "`cluster_json`, its text"},
    {"Trial.trial", "`name`, as AIP-122 calls resource names"},
    {"Attempt.attempt", "`number`: there it stands inside the attempt"},
    {"Attempt.end_reason", "`reason`: beside the reason of the trial's state"},
    {"SweepPlan.next", "`trials`: `sweep show` has those that are there by that name"},
};

template <size_t kCount>
std::set<std::string> FieldsOf(const Exception (&exceptions)[kCount]) {
  std::set<std::string> fields;
  for (const Exception& exception : exceptions) fields.emplace(exception.field);
  return fields;
}

TEST(WireNames, AreThoseOfTheJson) {
  std::set<std::string> others;
  ExpectSameFields<RequestText, v1::PlanRequest>(&others);
  ExpectSameFields<RecommendRequestText, v1::RecommendRequest>(&others);
  ExpectSameFields<ScaleRequestText, v1::ScaleRequest>(&others);
  ExpectSameFields<StudyRequestText, v1::StudyRequest>(&others);
  ExpectSameFields<FastestRequestText, v1::FastestRequest>(&others);
  ExpectSameFields<FitRequestText, v1::FitRequest>(&others);
  ExpectSameFields<RecommendText, v1::RecommendResponse>(&others);
  ExpectSameFields<EstimateText, v1::EstimateResponse>(&others);
  ExpectSameFields<CompareText, v1::CompareResponse>(&others);
  ExpectSameFields<ScaleText, v1::ScaleResponse>(&others);
  ExpectSameFields<StudyText, v1::StudyResponse>(&others);
  ExpectSameFields<FastestText, v1::FastestResponse>(&others);
  ExpectSameFields<FitText, v1::FitResponse>(&others);
  ExpectSameFields<planner::ExportAnswer, v1::ExportResponse>(&others);
  ExpectSameFields<planner::ImportAnswer, v1::ImportResponse>(&others);
  ExpectSameFields<planner::ScheduleAnswer, v1::ScheduleResponse>(&others);
  ExpectSameFields<SweepText, v1::Sweep>(&others);
  ExpectSameFields<TrialText, v1::Trial>(&others);
  ExpectSameFields<EventText, v1::SweepEvent>(&others);
  ExpectSameFields<SweepPlanText, v1::SweepPlan>(&others);
  ExpectSameFields<AttemptText, v1::Attempt>(&others);
  ExpectSameFields<ImportedRunText, v1::ImportedRun>(&others);
  ExpectSameFields<ImportedFileText, v1::ImportMeasurementsResponse>(&others);
  ExpectSameFields<AgentText, v1::Agent>(&others);
  ExpectSameFields<StandingText, v1::GetStandingResponse>(&others);
  ExpectSameFields<TakenOverText, v1::TakeOverResponse>(&others);
  EXPECT_EQ(others, FieldsOf(kOtherForms));
  EXPECT_EQ(wire::NamesVisitor::Renamed(), FieldsOf(kOtherNames));
}

}  // namespace
}  // namespace meshwright::cli
