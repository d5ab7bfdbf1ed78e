#include "planner/catalog/own_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "planner/catalog/plan_query.h"
#include "planner/search/search.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

PlanQuery Question() {
  PlanQuery query;
  query.model = {"llama-3-8b", ""};
  query.cluster = {"h100", ""};
  query.devices = 64;
  query.training = {.seq_len = 8192, .global_batch = 256};
  return query;
}

absl::StatusOr<OwnRun> Parse(std::string_view text) {
  return ParseOwnRun(text, Resolve(Question(), 8).value());
}

TEST(OwnRuns, ReadsUnitsOfTimeAndMemory) {
  EXPECT_EQ(Parse("tp2.pp1.dp32 step=12.3s")->step_s, 12.3);
  EXPECT_DOUBLE_EQ(*Parse("tp2.pp1.dp32 step=950ms")->step_s, 0.95);
  EXPECT_EQ(Parse("tp2.pp1.dp32 step=1.5min")->step_s, 90.0);
  EXPECT_EQ(Parse("tp2.pp1.dp32 memory=61GiB")->peak_bytes, 61.0 * kBytesPerGib);
  EXPECT_EQ(Parse("tp2.pp1.dp32  step=3s   memory=65GB")->peak_bytes, 65'000'000'000);
  EXPECT_TRUE(Parse("tp2.pp1.dp32 oom")->out_of_memory);
}

TEST(OwnRuns, ReadsWhatTheRunDidDifferently) {
  const OwnRun run =
      Parse("tp2.pp1.dp8 step=3s global_batch=32 seq_len=4096 loss=chunked:8").value();
  EXPECT_EQ(run.training.global_batch, 32);
  EXPECT_EQ(run.training.seq_len, 4096);
  EXPECT_EQ(OwnRunText(run, Question().training),
            FormatLayout(run.layout) + " step=3s global_batch=32 seq_len=4096 loss=chunked:8");
}

TEST(OwnRuns, ItsTextIsReadAgain) {
  const SearchRequest request = Resolve(Question(), 8).value();
  for (const char* text : {"tp2.pp1.dp32 step=12.3s memory=61.5GiB", "tp1.pp1.dp64.zero3 oom",
                           "tp2.pp1.dp8 step=0.95s global_batch=32"}) {
    const OwnRun run = ParseOwnRun(text, request).value();
    EXPECT_EQ(ParseOwnRun(OwnRunText(run, request.training), request).value(), run) << text;
  }
}

TEST(OwnRuns, RefusesWhatCannotBeARun) {
  for (const auto& [text, reason] : {
           std::pair("", "is empty"),
           std::pair("tp2.pp1.dp32", "has none of step, memory and oom"),
           std::pair("tp2.pp1.dp32 step=12.3", "must be a time in ms, s or min"),
           std::pair("tp2.pp1.dp32 step=-3s", "must be a time in ms, s or min"),
           std::pair("tp2.pp1.dp32 memory=61", "must be a size in GiB or GB"),
           std::pair("tp2.pp1.dp32 oom step=3s", "has oom beside a step or a memory peak"),
           std::pair("tp2.pp1.dp32 step=3s global_batch=x", "a whole number above 0"),
           std::pair("tp2.pp1.dp32 step=3s compile=on", "a framework profile other than"),
           std::pair("tp2.xp32 step=3s", "xp"),
           std::pair("tp2.pp1.dp32 step=3s color=red", "color"),
       }) {
    const absl::Status status = Parse(text).status();
    EXPECT_EQ(FieldOf(status), "measured") << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(reason)) << text;
  }
}

TEST(OwnRuns, ALayoutThatCannotRunIsRefusedByItsRule) {
  PlanQuery query = Question();
  query.measured = {"tp3.pp1.dp8 step=3s"};
  const absl::Status status = Resolve(query, 8).status();
  EXPECT_EQ(FieldOf(status), "measured");
  EXPECT_THAT(std::string(status.message()), HasSubstr("heads"));
}

TEST(OwnRuns, CorrectTheLayoutThatWasMeasured) {
  PlanQuery query = Question();
  const SearchRequest before = Resolve(query, 8).value();
  EXPECT_EQ(before.correction, nullptr);
  const Layout layout = ParseLayout("tp2.pp1.dp32.mb1.zero1.sp1").value();
  const double step_s = CheckAndEstimate(before, layout)->time.step_s();
  query.measured = {FormatLayout(layout) + absl::StrFormat(" step=%.6fs", 1.4 * step_s)};
  const SearchRequest after = Resolve(query, 8).value();
  const Estimate estimate = CheckAndEstimate(after, layout).value();
  EXPECT_NEAR(estimate.time.step_s(), 1.4 * step_s, 0.06 * step_s);
  EXPECT_EQ(estimate.step_before_s, step_s);
}

TEST(OwnRuns, ARunOnOtherDevicesCorrectsAQuestionAboutMore) {
  PlanQuery query = Question();
  query.devices = 512;
  query.training.global_batch = 2048;
  query.measured = {"tp2.pp1.dp32.mb1.zero1.sp1 step=60s global_batch=256"};
  const SearchRequest request = Resolve(query, 8).value();
  ASSERT_EQ(request.own_runs.size(), 1U);
  EXPECT_EQ(
      request.own_runs[0].step_before_s,
      CheckAndEstimate(Resolve(Question(), 8).value(), request.own_runs[0].layout)->time.step_s());
  EXPECT_GT(
      CheckAndEstimate(request, ParseLayout("tp2.pp1.dp256.mb1.zero1.sp1").value())->time.step_s(),
      2.0);
}

}  // namespace
}  // namespace meshwright::planner
