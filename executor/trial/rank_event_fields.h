// VisitFields() names the fields of a rank's events and of the step records in them
// (planner/codec/fields.h).
//
// Time spans, and records of which a step may have tens of thousands, are JSON arrays without keys.
#pragma once

#include "executor/trial/rank_events.h"
#include "executor/trial/result_fields.h"
#include "planner/codec/fields.h"

namespace meshwright::trial {

template <planner::ConstOr<TimeSpan> Span, typename Visitor>
void VisitFields(Span& span, Visitor& visit) {
  visit("begin_s", span.begin_s);
  visit("end_s", span.end_s);
}

template <planner::ConstOr<ActionSpan> Span, typename Visitor>
void VisitFields(Span& span, Visitor& visit) {
  visit("kind", span.action.kind, planner::kActionKindNames);
  visit("micro_batch", span.action.micro_batch);
  visit("chunk", span.action.chunk);
  visit(planner::AsList("time"), span.time);
  visit("communication_s", span.communication_s);
}

template <planner::ConstOr<CommunicationSpan> Span, typename Visitor>
void VisitFields(Span& span, Visitor& visit) {
  visit("group", span.group);
  visit("operation", span.operation, planner::kCollectiveKindNames);
  visit("peer", span.peer);
  visit("bytes", span.bytes);
  visit("issued_s", span.issued_s);
  visit(planner::AsList("wait"), span.wait);
  visit("done_s", span.done_s);
  visit("returned_s", span.returned_s);
}

template <planner::ConstOr<StepRecord> Record, typename Visitor>
void VisitFields(Record& record, Visitor& visit) {
  visit(AsList(planner::Needed("step")), record.step);
  visit(planner::Needed("phases"), record.phases);
  visit(AsList(planner::Needed("actions")), record.actions);
  visit(AsList(planner::Needed("optimizer")), record.optimizer);
  visit(AsList(planner::Needed("communication")), record.communication);
}

template <planner::ConstOr<ActionTotal> Total, typename Visitor>
void VisitFields(Total& total, Visitor& visit) {
  visit(planner::Needed("kind"), total.kind, planner::kActionKindNames);
  visit(planner::Needed("chunk"), total.chunk);
  visit(planner::Needed("calls"), total.calls);
  visit(planner::Needed("seconds"), total.seconds);
  visit(planner::Needed("communication_s"), total.communication_s);
}

template <planner::ConstOr<MessageTimes> Times, typename Visitor>
void VisitFields(Times& times, Visitor& visit) {
  visit(planner::Needed("group"), times.group);
  visit(planner::Needed("peer"), times.peer);
  visit(planner::Needed("sent"), times.sent);
  visit(planner::Needed("issued_s"), times.issued_s);
  visit(AsList(planner::Needed("waits")), times.waits);
  visit(planner::Needed("done_s"), times.done_s);
}

template <planner::ConstOr<StepProfile> Profile, typename Visitor>
void VisitFields(Profile& profile, Visitor& visit) {
  visit(planner::Needed("phases"), profile.phases);
  visit(planner::Needed("actions"), profile.actions);
  visit(planner::Needed("communication"), profile.communication);
  visit(planner::Needed("messages"), profile.messages);
}

template <planner::ConstOr<HelloEvent> Event, typename Visitor>
void VisitFields(Event& event, Visitor& visit) {
  visit("pid", event.pid);
  visit(planner::Needed("host"), event.host);
  visit(planner::Needed("version"), event.version);
}

template <planner::ConstOr<BeginEvent> Event, typename Visitor>
void VisitFields(Event& event, Visitor& visit) {
  visit(planner::Needed("step"), event.step);
}

template <planner::ConstOr<StepEvent> Event, typename Visitor>
void VisitFields(Event& event, Visitor& visit) {
  visit(planner::Needed("step"), event.step);
  visit(planner::Needed("step_s"), event.step_s);
  visit(planner::Needed("profile"), event.profile);
  visit("loss", event.loss);
  visit("gradient_square_sum", event.gradient_square_sum);
}

template <planner::ConstOr<TracedStep> Trace, typename Visitor>
void VisitFields(Trace& trace, Visitor& visit) {
  visit(planner::Needed("name"), trace.name);
  visit(planner::Needed("record"), trace.record);
}

template <planner::ConstOr<DoneEvent> Event, typename Visitor>
void VisitFields(Event& event, Visitor& visit) {
  visit(planner::Needed("stop_reason"), event.stop_reason, kStopReasonNames);
  visit(planner::Needed("peak_bytes"), event.peak_bytes);
  visit(planner::Inside("device_memory"), event.device_memory);
  visit(planner::OnlyIf(event.peak_host_bytes > 0, "peak_host_bytes"), event.peak_host_bytes);
  visit(planner::Needed("peak_in_flight"), event.peak_in_flight);
  visit(planner::Needed("measured_peak_flops"), event.measured_peak_flops);
  visit(planner::OnlyIf(event.expert_load > 0.0, "expert_load"), event.expert_load);
  visit("expert_tokens", event.expert_tokens);
  visit("estimated_routed_bytes", event.estimated_routed_bytes);
  visit("trace", event.trace);
}

template <planner::ConstOr<OomEvent> Event, typename Visitor>
void VisitFields(Event& event, Visitor& visit) {
  visit(planner::Needed("pipeline_rank"), event.pipeline_rank);
  visit(planner::Needed("requested_bytes"), event.requested_bytes);
  visit(planner::Needed("held_bytes"), event.held_bytes);
  visit(planner::Needed("limit_bytes"), event.limit_bytes);
}

template <planner::ConstOr<ErrorEvent> Event, typename Visitor>
void VisitFields(Event& event, Visitor& visit) {
  visit(planner::Needed("kind"), event.kind, kErrorKindNames);
  visit(planner::Needed("message"), event.message);
}

}  // namespace meshwright::trial
