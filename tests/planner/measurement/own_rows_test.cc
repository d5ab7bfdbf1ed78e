#include "planner/measurement/own_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/catalog/plan_query.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SearchRequest Request() {
  PlanQuery query;
  query.model = {"llama-3-8b", ""};
  query.cluster = {"h100", ""};
  query.devices = 64;
  query.training = {.seq_len = 8192, .global_batch = 256};
  return Resolve(query, 8).value();
}

absl::StatusOr<std::vector<std::string>> Runs(const std::string& rows) {
  return OwnRunsOfFile(
      "model,layers,gpu,seq,gbs,gpus,tp,pp,dp,mbs,outcome,step_time_s,peak_mem_gib\n" + rows,
      Request(), LoadMeasurementPresets(8).value());
}

TEST(OwnRows, TakesRowsOfTheQuestionAndLeavesOthersOut) {
  const auto runs = Runs(
      "Llama 3 8B,32,H100,8192,256,64,2,1,32,1,ok,5.5,61.5\n"
      "Llama 3 8B,32,H100,8192,512,64,2,1,32,1,ok,11,61.5\n"
      "Llama 3 8B,32,A100,8192,256,64,2,1,32,1,ok,12,61.5\n"
      "Llama 3 8B,32,H100,8192,256,64,1,1,64,4,oom,,\n");
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_THAT(*runs, ElementsAre("tp2.cp1.pp1.dp32.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b "
                                 "step=5.5s memory=61.5GiB",
                                 "tp1.cp1.pp1.dp64.mb4.vpp1.zero0.sp0.rc=none.sched=1f1b oom"));
}

TEST(OwnRows, SaysWhyNoRowIsOfTheQuestion) {
  const absl::Status status = Runs("Llama 3 8B,32,H100,8192,512,64,2,1,32,1,ok,11,61.5\n").status();
  EXPECT_EQ(FieldOf(status), "measured");
  EXPECT_THAT(std::string(status.message()), HasSubstr("line 2 has gbs 512 in place of 256"));
}

}  // namespace
}  // namespace meshwright::planner
