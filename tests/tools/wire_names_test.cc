// The same thing has the same name on the wire as in the JSON that commands print.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "executor/wire/wire.h"
#include "nlohmann/json.hpp"
#include "tools/cli/common/agent_clusters.h"
#include "tools/cli/plan/planner_json.h"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::json;

// How a field or a key may differ.
enum class Differs {
  kOtherName,  // the key has another name
  kInside,     // the fields of this message are keys of the object around it
  kOnlyWire,   // no key
  kOnlyJson,   // no field
  kOtherForm,  // the key's value has another form, which has no message
};

struct Exception {
  std::string_view message;
  std::string_view name;  // of the field; of the key where there is only that
  Differs how;
  std::string_view key;  // where it has another name
  std::string_view reason;
};

constexpr std::string_view kOfTheSweep = "`sweep show` works it out, of all its trials together";

constexpr std::string_view kEventData =
    "an event has one of them; its keys are compared in tests/executor/wire/message_names_test.cc";

constexpr Exception kExceptions[] = {
    {"PlanRequest", "model", Differs::kOtherForm, "", "an answer repeats the name alone"},
    {"PlanRequest", "cluster", Differs::kOtherForm, "", "an answer repeats the name alone"},
    {"PlanRequest", "framework", Differs::kOtherForm, "", "an answer repeats the name alone"},
    {"TimeEstimate", "parts", Differs::kInside, "", "beside their sum"},
    {"LayoutEstimate", "axes", Differs::kOnlyJson, "", "`layout` says them too"},
    {"RecommendResponse", "request", Differs::kOnlyJson, "", "the caller has it"},
    {"RecommendResponse", "elapsed_s", Differs::kOnlyJson, "", "the caller's clock"},
    {"RecommendResponse", "nearest_over_bytes", Differs::kOnlyWire, "",
     "`over_bytes` of `nearest`, whose message others share"},
    {"LayoutEstimate", "over_bytes", Differs::kOnlyJson, "", "nearest_over_bytes beside it"},
    {"EstimateResponse", "request", Differs::kOnlyJson, "", "the caller has it"},
    {"EstimateResponse", "elapsed_s", Differs::kOnlyJson, "", "the caller's clock"},
    {"EstimateResponse", "estimate", Differs::kInside, "", "the answer is the layout's entry"},
    {"EstimateResponse", "explanation", Differs::kInside, "", "beside the entry's own keys"},
    {"Explanation", "smallest_change", Differs::kOtherForm, "",
     "what changes, and the two figures that decide"},
    {"Trial", "name", Differs::kOtherName, "trial", "resource names are called `name` by AIP-122"},
    {"Trial", "attempts", Differs::kOnlyWire, "", "`sweep show` prints no attempts"},
    {"Trial", "plan_json", Differs::kOnlyWire, "", "`sweep show` prints no plans"},
    {"Trial", "model", Differs::kOnlyWire, "", "the sweep beside it says it"},
    {"Trial", "cluster", Differs::kOnlyWire, "", "the sweep beside it says it"},
    {"Trial", "gpus", Differs::kOnlyWire, "", "the sweep beside it says it"},
    {"Trial", "figures", Differs::kOnlyWire, "", kOfTheSweep},
    {"Trial", "imported", Differs::kOnlyWire, "", "no sweep has such a one; `history` shows it"},
    {"Trial", "rank", Differs::kOnlyJson, "", kOfTheSweep},
    {"Trial", "rank_shared", Differs::kOnlyJson, "", kOfTheSweep},
    {"Trial", "step_s", Differs::kOnlyJson, "", kOfTheSweep},
    {"Trial", "step_low_s", Differs::kOnlyJson, "", kOfTheSweep},
    {"Trial", "step_high_s", Differs::kOnlyJson, "", kOfTheSweep},
    {"Trial", "mfu", Differs::kOnlyJson, "", kOfTheSweep},
    {"Trial", "mfu_causal", Differs::kOnlyJson, "", kOfTheSweep},
    {"Trial", "mfu_note", Differs::kOnlyJson, "", kOfTheSweep},
    {"Sweep", "cluster_json", Differs::kOnlyWire, "", "`sweep show` takes peak_flops from it"},
    {"Sweep", "request_json", Differs::kOnlyWire, "", "`sweep show` has it beside the sweep"},
    {"SweepEvent", "placed", Differs::kOnlyWire, "", kEventData},
    {"SweepEvent", "stepped", Differs::kOnlyWire, "", kEventData},
    {"SweepEvent", "left", Differs::kOnlyWire, "", kEventData},
    {"SweepEvent", "refused", Differs::kOnlyWire, "", kEventData},
    {"SweepEvent", "data", Differs::kOnlyJson, "", kEventData},
    {"RankMeasurement", "device_memory", Differs::kInside, "", "absent as one on a CPU"},
    {"Measurement", "slice", Differs::kOtherForm, "",
     "measured, modelled and simulated apart; see SlicesHaveTheSameNamesApart"},
    {"Agent", "device_set", Differs::kInside, "", "an agent's first message has it as one"},
    {"Agent", "cluster_json", Differs::kOtherName, "cluster", "its text on the wire"},
    {"Agent", "running", Differs::kOtherForm, "", "the trial's name alone"},
    {"Agent", "running_beside", Differs::kOtherForm, "", "the trials' names alone"},
};

const Exception* Find(const Descriptor& message, std::string_view name) {
  const auto* found = std::find_if(
      std::begin(kExceptions), std::end(kExceptions),
      [&](const Exception& e) { return e.message == message.name() && e.name == name; });
  return found == std::end(kExceptions) ? nullptr : found;
}

void ExpectSameNames(const Descriptor& message, const json& object);

// Keys that the fields of `message` claim of `object`, and those that are excepted; the parts of
// `object` are compared on the way.
std::set<std::string> Claim(const Descriptor& message, const json& object) {
  std::set<std::string> claimed;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const Exception* exception = Find(message, field.name());
    if (exception != nullptr && exception->how == Differs::kOnlyWire) continue;
    if (exception != nullptr && exception->how == Differs::kInside) {
      claimed.merge(Claim(*field.message_type(), object));
      continue;
    }
    const std::string key = exception != nullptr && exception->how == Differs::kOtherName
                                ? std::string(exception->key)
                                : field.name();
    claimed.insert(key);
    EXPECT_TRUE(object.contains(key)) << field.full_name() << " has no key " << key;
    if (exception != nullptr || !object.contains(key) || field.is_map()) continue;
    if (field.type() != FieldDescriptor::TYPE_MESSAGE || object[key].is_string()) continue;
    ExpectSameNames(*field.message_type(), object[key].is_array() ? object[key][0] : object[key]);
  }
  for (const Exception& exception : kExceptions) {
    if (exception.message == message.name() && exception.how == Differs::kOnlyJson) {
      claimed.insert(std::string(exception.name));
    }
  }
  return claimed;
}

void ExpectSameNames(const Descriptor& message, const json& object) {
  const std::set<std::string> claimed = Claim(message, object);
  for (const auto& [key, value] : object.items()) {
    EXPECT_TRUE(claimed.contains(key)) << message.name() << " has no field for the key " << key;
  }
}

// Texts that are read back as something.
std::string TextOf(const FieldDescriptor& field) {
  static const std::map<std::string, std::string> kTexts = {
      {"layout", "tp2.cp1.pp2.dp2.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b"},
      {"dtype", "bf16"},
      {"key", "heads_division"},
      {"cluster_json", "{}"},
      {"meshwright.v1.Standing.rule", ""},
      {"meshwright.v1.Sweep.name", "sweeps/s"},
      {"meshwright.v1.Trial.name", "sweeps/s/trials/1"}};
  for (const std::string& name : {field.full_name(), field.name()}) {
    if (const auto found = kTexts.find(name); found != kTexts.end()) return found->second;
  }
  return "text";
}

void FillField(const FieldDescriptor& field, Message& message);

// Every field set, every list with one entry.
void Fill(Message& message) {
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    FillField(*message.GetDescriptor()->field(i), message);
  }
}

void FillField(const FieldDescriptor& field, Message& message) {
  const Reflection& to = *message.GetReflection();
  const bool list = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Fill(list ? *to.AddMessage(&message, &field) : *to.MutableMessage(&message, &field));
    case FieldDescriptor::CPPTYPE_STRING:
      return list ? to.AddString(&message, &field, TextOf(field))
                  : to.SetString(&message, &field, TextOf(field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return list ? to.AddDouble(&message, &field, 0.5) : to.SetDouble(&message, &field, 0.5);
    case FieldDescriptor::CPPTYPE_INT64:
      return list ? to.AddInt64(&message, &field, 1) : to.SetInt64(&message, &field, 1);
    case FieldDescriptor::CPPTYPE_INT32:
      return list ? to.AddInt32(&message, &field, 1) : to.SetInt32(&message, &field, 1);
    case FieldDescriptor::CPPTYPE_UINT64:
      return to.SetUInt64(&message, &field, 1);
    case FieldDescriptor::CPPTYPE_BOOL:
      return to.SetBool(&message, &field, true);
    case FieldDescriptor::CPPTYPE_ENUM:
      return to.SetEnumValue(&message, &field, 1);
    default:
      FAIL() << field.full_name() << " has a type that this test does not fill";
  }
}

template <typename T>
T Filled() {
  T message;
  Fill(message);
  return message;
}

TEST(WireNames, OfRecommendationsAreThoseOfTheJson) {
  const auto response = Filled<v1::RecommendResponse>();
  const auto answer = wire::FromWire(response);
  ASSERT_TRUE(answer.ok()) << answer.status();
  planner::PlanQuery query;
  query.pareto = "mfu,memory";
  query.best_per = "tp";
  ExpectSameNames(*response.GetDescriptor(), json(ToJson(query, *answer, 0.0)));
}

TEST(WireNames, OfEstimatesAreThoseOfTheJson) {
  const auto response = Filled<v1::EstimateResponse>();
  const auto answer = wire::FromWire(response);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ExpectSameNames(*response.GetDescriptor(), json(ToJson(planner::PlanQuery(), *answer, 0.0)));
}

TEST(WireNames, OfRequestsAreThoseOfTheJson) {
  const auto request = Filled<v1::PlanRequest>();
  const auto query = wire::FromWire(request, "megatron");
  ASSERT_TRUE(query.ok()) << query.status();
  ExpectSameNames(*request.GetDescriptor(),
                  json(ToJson(*query, planner::RecommendAnswer(), 0.0))["request"]);
}

TEST(WireNames, OfSweepsTrialsAndEventsAreThoseOfTheJson) {
  const auto sweep = Filled<v1::Sweep>();
  ExpectSameNames(*sweep.GetDescriptor(), json(SweepToJson(sweep)));
  const auto trial = Filled<v1::Trial>();
  const ShownSweep shown{.sweep = {}, .cluster = {}, .trials = {ViewOf(trial)}};
  ExpectSameNames(*trial.GetDescriptor(), json(ShownSweepToJson(shown)["trials"][0]));
  const auto event = Filled<v1::SweepEvent>();
  ExpectSameNames(*event.GetDescriptor(), json(EventToJson(event)));
}

TEST(WireNames, OfAgentsAreThoseOfTheJson) {
  const auto agent = Filled<v1::Agent>();
  std::ostringstream out;
  PrintAgents({agent}, OutputFormat::kJson, out);
  ExpectSameNames(*agent.GetDescriptor(), json::parse(out.str())["agents"][0]);
}

void AddKeys(const json& node, std::set<std::string>& keys) {
  if (!node.is_structured()) return;
  for (const auto& [key, value] : node.items()) {
    if (node.is_object()) keys.insert(key);
    AddKeys(value, keys);
  }
}

void AddFields(const Descriptor& message, std::set<std::string>& names) {
  for (int i = 0; i < message.field_count(); ++i) {
    names.insert(message.field(i)->name());
    if (message.field(i)->message_type() != nullptr) {
      AddFields(*message.field(i)->message_type(), names);
    }
  }
}

TEST(WireNames, SlicesHaveTheSameNamesApart) {
  const auto slice = Filled<v1::SliceMeasurement>();
  v1::Measurement measurement;
  measurement.set_outcome(v1::OUTCOME_OK);
  *measurement.mutable_slice() = slice;
  const auto result = wire::FromWire(measurement);
  ASSERT_TRUE(result.ok()) << result.status();
  std::set<std::string> keys;
  AddKeys(ToJson(*result)["slice"], keys);
  std::set<std::string> names = {"measured", "modelled", "simulated"};
  AddFields(*slice.GetDescriptor(), names);
  // Of the parts of a step a slice trial has all but two.
  for (const char* name : {"parts", "recompute_s", "pressure_s"}) names.erase(name);
  EXPECT_EQ(keys, names);
}

}  // namespace
}  // namespace meshwright::cli
