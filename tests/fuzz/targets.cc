#include "tests/fuzz/targets.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/agent/wire.h"
#include "executor/gang/frame.h"
#include "executor/gang/handshake.h"
#include "executor/trial/trial.h"
#include "meshwright/v1/agents.pb.h"
#include "meshwright/v1/plan.pb.h"
#include "planner/catalog/model_config.h"
#include "planner/codec/json_text.h"
#include "planner/layout/filter_match.h"
#include "planner/layout/filter_parser.h"
#include "planner/layout/layout.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/measurement/planned_row.h"
#include "planner/measurement/row_prediction.h"

namespace meshwright::fuzz {
namespace {

constexpr int64_t kSeqLen = 4096;

void Expect(bool holds, std::string_view otherwise) {
  if (holds) return;
  std::cerr << otherwise << std::endl;
  std::abort();
}

void ExpectOk(const absl::Status& status, std::string_view what) {
  Expect(status.ok(), absl::StrCat(std::string(what), ": ", status.message()));
}

// Whether reading what `again` wrote of an accepted value gives the same value.
template <typename Value, typename Read, typename Write>
void ExpectSameAgain(const Value& value, const Read& read, const Write& write) {
  const auto again = read(write(value));
  ExpectOk(again.status(), "an accepted input is refused in its own form");
  Expect(*again == value, "an accepted input is another one in its own form");
}

template <typename Message>
bool Parses(std::string_view bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

template <typename Message>
std::string Bytes(const Message& message) {
  return message.SerializeAsString();
}

}  // namespace

void ReadModelConfig(std::string_view json) {
  const auto config = planner::ReadModelConfig("fuzzed", json, kSeqLen);
  if (!config.ok()) return;
  const absl::Status valid = planner::Validate(config->model);
  ExpectOk(valid, "an accepted model does not pass its own check");
}

void ReadLayout(std::string_view text) {
  const auto layout = planner::ParseLayout(text);
  if (layout.ok()) ExpectSameAgain(*layout, planner::ParseLayout, planner::FormatLayout);
}

void ReadFilter(std::string_view text) {
  const auto read = [](std::string_view filter) { return planner::ParseFilter("where", filter); };
  const auto filter = read(text);
  if (!filter.ok()) return;
  const std::string written = planner::FormatFilter(*filter);
  if (written.size() <= planner::kMostFilterBytes) {
    ExpectSameAgain(*filter, read, planner::FormatFilter);
  }
  planner::Layout layout;
  layout.tp = 8;
  planner::Matches(*filter, layout);
}

// A row that says nothing is a blank line, which is passed over, and so are parts of a text that
// the format has no room for. What is left stays as it is.
void ReadMeasurements(std::string_view csv) {
  const auto rows = planner::ParseMeasurements(csv);
  if (!rows.ok()) return;
  const auto written = planner::ParseMeasurements(planner::FormatMeasurements(*rows));
  ExpectOk(written.status(), "rows are refused as they are written");
  // As a server takes them (server/import.h).
  static const planner::MeasurementPresets* const kPresets =
      new planner::MeasurementPresets(*planner::LoadMeasurementPresets(/*host_cores=*/4));
  constexpr size_t kMostPlanned = 4;
  for (size_t i = 0; i < std::min(kMostPlanned, rows->size()); ++i) {
    const planner::RowPlan plan = planner::PlanRow((*rows)[i], *kPresets);
    Expect(plan.layout.has_value() == plan.reason.empty(), "a row is refused without a reason");
    planner::PredictRow(0, (*rows)[i], *kPresets);
  }
  const std::string text = planner::FormatMeasurements(*written);
  const auto again = planner::ParseMeasurements(text);
  ExpectOk(again.status(), "rows are refused as they are written again");
  Expect(planner::FormatMeasurements(*again) == text, "rows change each time they are written");
}

void ReadTrialPlan(std::string_view json) {
  const auto parsed = planner::ParseJson("plan", json);
  if (!parsed.ok()) return;
  const auto plan = trial::TrialPlanFromJson(*parsed);
  if (!plan.ok()) return;
  const auto again = trial::TrialPlanFromJson(trial::ToJson(*plan));
  ExpectOk(again.status(), "a plan is refused as it is written");
  Expect(trial::ToJson(*again) == trial::ToJson(*plan), "a plan is another one once written");
}

void ReadTrialResult(std::string_view json) {
  const auto parsed = planner::ParseJson("result", json);
  if (!parsed.ok()) return;
  const auto result = trial::TrialResultFromJson(*parsed);
  if (!result.ok()) return;
  const auto again = trial::TrialResultFromJson(trial::ToJson(*result));
  ExpectOk(again.status(), "a result is refused as it is written");
}

void ReadPlanRequest(std::string_view message) {
  v1::PlanRequest request;
  if (!Parses(message, request)) return;
  const auto query = agent::FromWire(request, "megatron");
  if (!query.ok()) return;
  const v1::PlanRequest written = agent::ToWire(*query);
  const auto again = agent::FromWire(written, "megatron");
  ExpectOk(again.status(), "a query is refused as it is sent");
  Expect(Bytes(agent::ToWire(*again)) == Bytes(written), "a query is another one once sent");
}

void ReadAgentMessage(std::string_view message) {
  v1::AgentMessage parsed;
  if (!Parses(message, parsed) || !parsed.has_finished()) return;
  const v1::TrialFinished& finished = parsed.finished();
  if (const auto key = agent::FromWire(finished.ref()); key.ok()) agent::ToWire(*key);
  const auto result = agent::FromWire(finished.measurement());
  if (!result.ok()) return;
  const v1::Measurement written = agent::ToWire(*result);
  const auto again = agent::FromWire(written);
  ExpectOk(again.status(), "a result is refused as it is sent");
}

void ReadGangStream(std::string_view stream) {
  gang::Handshake gate = gang::Handshake::OfGate("a secret", std::string(gang::kNonceBytes, 'g'));
  absl::Status greeted;
  for (std::string_view rest = stream; greeted.ok() && !rest.empty() && gate.wanted_bytes() > 0;) {
    const size_t taken = std::min(rest.size(), gate.wanted_bytes());
    greeted = gate.TakeIn(rest.substr(0, taken));
    rest.remove_prefix(taken);
  }
  Expect(!gate.done(), "a gate takes one for its own who can't know the secret");
  const auto frames = gang::FrameReader().TakeIn(stream);
  if (!frames.ok()) return;
  for (const gang::Frame& frame : *frames) {
    const std::string written = gang::EncodeFrame(frame);
    const auto again = gang::FrameReader().TakeIn(written);
    ExpectOk(again.status(), "a frame is refused as it is sent");
    Expect(again->size() == 1 && gang::EncodeFrame(again->front()) == written,
           "a frame is another one once sent");
  }
}

}  // namespace meshwright::fuzz
