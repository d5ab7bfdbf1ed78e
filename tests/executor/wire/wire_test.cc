#include "executor/wire/wire.h"

#include <google/protobuf/util/json_util.h>

#include "base/text/field_error.h"
#include "executor/wire/message_codec.h"
#include "gtest/gtest.h"
#include "planner/report/estimate_json.h"
#include "tests/executor/some_slice.h"

namespace meshwright::wire {
namespace {

planner::RankedLayout SomeLayout() {
  planner::RankedLayout ranked;
  ranked.layout = *planner::ParseLayout("tp2.cp1.pp2.dp8.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b");
  ranked.estimate.memory = {.weights_bytes = 1,
                            .gradients_bytes = 2,
                            .optimizer_bytes = 3,
                            .activations_bytes = 4,
                            .loss_bytes = 5,
                            .workspace_bytes = 6,
                            .overhead_bytes = 7,
                            .pipeline_rank = 1};
  ranked.estimate.fraction_of_device = 0.25;
  double seconds = 0;
  for (const planner::TimePart part : planner::kTimeParts) ranked.estimate.time[part] = ++seconds;
  ranked.estimate.mfu = 0.4;
  ranked.estimate.mfu_causal = 0.3;
  ranked.estimate.tokens_per_s = 1e6;
  ranked.estimate.tflops_per_gpu = 400;
  ranked.estimate.tflops_per_gpu_causal = 300;
  ranked.estimate.tokens_per_s_per_gpu = 1000;
  ranked.estimate.oom_probability = 0.125;
  ranked.estimate.step_low_s = 30;
  ranked.estimate.step_high_s = 42;
  return ranked;
}

TEST(WireTest, EstimatesRoundTrip) {
  const planner::RankedLayout ranked = SomeLayout();
  const auto back = FromWire(ToWire(ranked));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->layout, ranked.layout);
  EXPECT_EQ(back->estimate, ranked.estimate);
}

// The store keeps the JSON form and the server reads it as the message.
TEST(WireTest, TheJsonFormOfAnEstimateIsTheMessage) {
  const planner::RankedLayout ranked = SomeLayout();
  v1::LayoutEstimate parsed;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  planner::LayoutToJson(ranked.layout, ranked.estimate).dump(), &parsed, options)
                  .ok());
  EXPECT_EQ(parsed.SerializeAsString(), ToWire(ranked).SerializeAsString());
}

TEST(WireTest, ExplanationsRoundTrip) {
  const planner::RankedLayout ranked = SomeLayout();
  planner::Explanation explanation;
  explanation.stages = {{ranked.estimate.memory, 0.25}, {ranked.estimate.memory, 0.125}};
  explanation.neighbours = {.tried = 12, .smallest = ranked};
  const v1::Explanation wire = ToWire(ranked, explanation);
  EXPECT_EQ(wire.binding().memory_part(), "overhead");
  EXPECT_EQ(wire.binding().time_s(), 12);
  EXPECT_EQ(*FromWire(wire), explanation);
  explanation.neighbours.smallest.reset();
  EXPECT_EQ(*FromWire(ToWire(ranked, explanation)), explanation);
}

TEST(WireTest, FunnelsRoundTrip) {
  planner::Funnel funnel{
      .enumerated = 10, .invalid = 5, .memory = 2, .evaluated = 3, .invalid_by_rule = {}};
  funnel.invalid_by_rule[static_cast<size_t>(planner::Rule::kHeadsDivision)] = 5;
  EXPECT_EQ(FromWire(ToWire(funnel)), funnel);
}

TEST(WireTest, ResultsRoundTrip) {
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kOom;
  result.message = "out of memory";
  result.step_times_s = {0.5, 0.25};
  result.step_interval = trial::MedianInterval{.low_s = 0.125, .high_s = 0.5};
  result.stop_reason = trial::StopReason::kBeaten;
  result.slice = trial::SomeSlice();
  result.losses = {10.5};
  result.gradient_norms = {1.5};
  result.ranks = {
      {.rank = 1, .pipeline_rank = 1, .peak_bytes = 2, .estimated_bytes = 3, .peak_in_flight = 4}};
  result.ranks[0].device_memory = trial::DeviceMemoryUse{
      .peak_reserved_bytes = 5, .allocator_retries = 6, .communicator_bytes = 7};
  result.ranks[0].estimated_communicator_bytes = 8;
  result.mfu_causal = 0.25;
  result.peak_flops = 9e12;
  result.mfu_of_peak = 0.375;
  result.mfu_causal_of_peak = 0.125;
  trial::ForEachPhase([&](trial::Phase phase) {
    result.ranks[0].phases[phase] = 1.0 + static_cast<double>(phase);
  });
  result.ranks[0].communication = {{.group = "replicas",
                                    .operation = planner::CollectiveKind::kReduceScatter,
                                    .calls = 4,
                                    .bytes = 1024,
                                    .waited_s = 0.5,
                                    .under_way_s = 0.75}};
  result.oom = trial::OomDetail{1, 1, 2, 3, 4};
  result.worker_version = "w";
  result.host = "h";
  result.failed_agent = "b";
  const auto back = FromWire(ToWire(result));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, result);
}

TEST(WireTest, TextThatIsNoUtf8ArrivesWithoutTheBadBytes) {
  trial::TrialResult result;
  result.message = "cut \xE2\x82";
  result.host = "h\xFF";
  result.worker_version = "\xC0";
  v1::Measurement arrived;
  ASSERT_TRUE(arrived.ParseFromString(ToWire(result).SerializeAsString()));
  EXPECT_EQ(arrived.message(), "cut \xEF\xBF\xBD");
  EXPECT_EQ(arrived.host(), "h\xEF\xBF\xBD");
}

TEST(WireTest, QueriesRoundTrip) {
  planner::PlanQuery query;
  query.model = {"mine", "{}", {"planned as the base model", "of 2 checkpoints, the last"}};
  query.cluster = {"h100", ""};
  query.framework = {"megatron", ""};
  query.devices = 8;
  query.training = {.seq_len = 128,
                    .global_batch = 16,
                    .precision = planner::Precision::kFp32,
                    .optimizer = planner::kMuon,
                    .expert_load = 1.25};
  query.media_tokens = 96;
  query.training.options = {.states = {.gradient = planner::StateFormat::kBf16},
                            .loss_chunks = 8,
                            .document_tokens = 512,
                            .train = {.freezes_towers = true, .first_frozen = 1, .end_frozen = 3}};
  const auto back = FromWire(ToWire(query), "meshwright");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, query);
}

TEST(WireTest, NotesOfACallerAreFewAndPlain) {
  planner::PlanQuery query;
  query.model = {"mine", "{}", {"a \x1b[2J note"}};
  query.cluster = {"h100", ""};
  EXPECT_EQ(FromWire(ToWire(query), "megatron")->model.notes.front(), "a \\x1b[2J note");
  query.model.notes.assign(17, "note");
  EXPECT_EQ(FieldOf(FromWire(ToWire(query), "megatron").status()), "model.notes");
}

TEST(WireTest, PresetsOfModelsRoundTrip) {
  const planner::ModelPreset preset{.name = "m",
                                    .other_names = {"n", "o"},
                                    .kind = "experts",
                                    .counts = {.parameters = 12,
                                               .active_parameters = 3,
                                               .tower_parameters = 2,
                                               .mtp_parameters = 1,
                                               .trainable_parameters = 5},
                                    .context_tokens = 4096};
  const auto message = WriteMessage<v1::ModelPreset>(preset);
  EXPECT_EQ(ReadMessage<planner::ModelPreset>(message).value(), preset);
  EXPECT_FALSE(WriteMessage<v1::ModelPreset>(planner::ModelPreset()).has_context_tokens());
}

TEST(WireTest, PresetsOfClustersRoundTrip) {
  const planner::ClusterPreset preset{
      .name = "c",
      .other_names = {"e"},
      .device = "d",
      .devices_per_node = 8,
      .memory_bytes = 80,
      .memory_bytes_per_s = 2e12,
      .peak_bf16_flops = 1e15,
      .peak_half_flops = 1e15,
      .scale_up_bytes_per_s = 4e11,
      .scale_out_bytes_per_s = 5e10,
      .evidence = {.name = "base", .kind = "runs", .rows = 7, .sources = {"s"}},
      .median_error = 0.05,
      .based_on = "base"};
  EXPECT_EQ(ReadMessage<planner::ClusterPreset>(WriteMessage<v1::ClusterPreset>(preset)).value(),
            preset);
}

TEST(WireTest, PresetsOfProfilesRoundTrip) {
  const planner::ProfilePreset preset{
      .name = "p",
      .other_names = {"q"},
      .framework = "f",
      .axes = {"tp", "pp"},
      .min_zero = 1,
      .max_zero = 3,
      .schedules = {"1f1b"},
      .evidence = {.name = "p", .kind = "assumption", .rows = 0, .sources = {}},
      .median_error = std::nullopt,
      .based_on = ""};
  EXPECT_EQ(ReadMessage<planner::ProfilePreset>(WriteMessage<v1::ProfilePreset>(preset)).value(),
            preset);
}

TEST(WireTest, NamesWhatIsMissing) {
  v1::PlanRequest request;
  EXPECT_EQ(FieldOf(FromWire(request, "megatron").status()), "model");
  request.mutable_model()->set_preset("llama-3-8b");
  EXPECT_EQ(FieldOf(FromWire(request, "megatron").status()), "cluster");
  request.mutable_cluster()->set_preset("h100");
  EXPECT_EQ(FromWire(request, "megatron")->framework.name, "megatron");
}

// A server that does not know the field would take its own default for what the client asked.
TEST(WireTest, RefusesADtypeAsOlderClientsSayIt) {
  v1::PlanRequest request;
  request.mutable_model()->set_preset("llama-3-8b");
  request.mutable_cluster()->set_preset("h100");
  ASSERT_TRUE(request.MergeFromString(std::string("\x3a\x04") + "fp64"));
  const absl::Status status = FromWire(request, "megatron").status();
  EXPECT_EQ(FieldOf(status), "dtype");
  EXPECT_NE(status.message().find("fp64"), absl::string_view::npos) << status;
}

TEST(WireTest, AttemptsAndTimesRoundTrip) {
  const AttemptKey key{"s", 2, 3};
  EXPECT_EQ(*FromWire(ToWire(key)), key);
  const absl::Time time = absl::FromUnixMicros(1'700'000'000'123'456);
  EXPECT_EQ(FromWire(ToWire(time)), time);
}

}  // namespace
}  // namespace meshwright::wire
