// The names of fields agree: what a struct calls a field is its key in JSON, which is made by the
// same visit, and must be the field's name in the struct's message.
#include "tests/executor/wire/message_names.h"

#include "executor/trial/result_fields.h"
#include "executor/wire/event_fields.h"
#include "executor/wire/wire.h"
#include "planner/report/answer_fields.h"
#include "planner/report/compare_fields.h"
#include "planner/report/left_out_file.h"

namespace meshwright::wire {
namespace {

TEST(MessageNamesTest, OfAResultAreThoseOfItsMessage) {
  ExpectSameFields<trial::TrialResult, v1::Measurement>();
}

TEST(MessageNamesTest, OfAnswersAreThoseOfTheirMessages) {
  ExpectSameFields<planner::RankedLayout, v1::LayoutEstimate>();
  ExpectSameFields<planner::RecommendAnswer, v1::RecommendResponse>();
  ExpectSameFields<planner::EstimateAnswer, v1::EstimateResponse>();
  ExpectSameFields<planner::CompareAnswer, v1::CompareResponse>();
  ExpectSameFields<planner::ScaleAnswer, v1::ScaleResponse>();
  ExpectSameFields<planner::FastestAnswer, v1::FastestResponse>();
  ExpectSameFields<planner::FitAnswer, v1::FitResponse>();
  ExpectSameFields<planner::StudyAnswer, v1::StudyResponse>();
  ExpectSameFields<planner::ModelPreset, v1::ModelPreset>();
  ExpectSameFields<planner::ClusterPreset, v1::ClusterPreset>();
  ExpectSameFields<planner::ProfilePreset, v1::ProfilePreset>();
  ExpectSameFields<planner::LeftOutFile, v1::LeftOutFile>();
  ExpectSameFields<planner::LevelShare, v1::LevelShare>();
}

TEST(MessageNamesTest, OfEventsDetailsAreThoseOfTheirMessages) {
  ExpectSameFields<TrialPlaced, v1::TrialPlaced>();
  ExpectSameFields<TrialStep, v1::TrialStep>();
  ExpectSameFields<TrialLeft, v1::TrialLeft>();
  // To protobuf "steps" and "step_s" are one name.
  EXPECT_EQ(NamesVisitor::Renamed(), std::set<std::string>{"TrialStep.steps"});
}

}  // namespace
}  // namespace meshwright::wire
