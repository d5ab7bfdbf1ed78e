// What the planner's answers are sent as, and what of them stands in parts.json.
#pragma once

#include "meshwright/v1/planner.pb.h"
#include "tests/tools/schema/schema_writer.h"
#include "tools/cli/plan/answer_text.h"

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

}  // namespace meshwright::cli
