// Files of runs from elsewhere: how their rows are read, and the call that takes them.
#include "server/sweeps/import.h"

#include "gmock/gmock.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Invented runs of an invented model.
constexpr char kHeader[] =
    "source,sweep,model,layers,hidden,ffn,heads,kv_heads,vocab,seq,gpu,gpus,gpus_per_node,tp,pp,cp,"
    "dp,vpp,mbs,gbs,precision,zero_stage,framework,outcome,step_time_s,peak_mem_gib,notes\n";
constexpr char kGood[] =
    "a lab,table 1,llama-x,16,2048,5632,16,16,32000,2048,H100,8,8,2,1,1,4,1,1,64,bf16,1,megatron-"
    "lm,ok,2.5,20,by hand\n";
constexpr char kOom[] =
    "a lab,table 1,llama-x,16,2048,5632,16,16,32000,2048,H100,8,8,1,1,1,8,1,8,64,bf16,1,megatron-"
    "lm,oom,,,\n";
constexpr char kUnknownGpu[] =
    "a lab,table 1,llama-x,16,2048,5632,16,16,32000,2048,X9,8,8,2,1,1,4,1,1,64,bf16,1,megatron-lm,"
    "ok,2.5,20,\n";
constexpr char kBrokenNumber[] =
    "a lab,table 1,llama-x,16,2048,5632,16,16,32000,2048,H100,8,8,two,1,1,4,1,1,64,bf16,1,megatron-"
    "lm,ok,2.5,20,\n";

std::string File(const std::vector<std::string>& rows) {
  std::string text = kHeader;
  for (const std::string& row : rows) text += row;
  return text;
}

ReadRuns Read(const std::string& csv) {
  const auto read = ReadImport(csv, 4, {});
  EXPECT_TRUE(read.ok()) << read.status();
  return *read;
}

TEST(ReadImport, ARowBecomesAMeasurementInThePlannersWords) {
  const ReadRuns read = Read(File({kGood, kOom}));
  ASSERT_THAT(read.refused, IsEmpty());
  ASSERT_THAT(read.runs, SizeIs(2));
  const db::NewImport& run = read.runs[0];
  EXPECT_EQ(run.run.origin, "a lab");
  EXPECT_EQ(run.run.sweep, "table 1");
  EXPECT_EQ(run.run.framework, "megatron-lm");
  EXPECT_EQ(run.run.notes, "by hand");
  EXPECT_EQ(run.model, "llama-x");
  EXPECT_EQ(run.cluster, "h100");
  EXPECT_EQ(run.devices, 8);
  EXPECT_EQ(run.seq_len, 2048);
  EXPECT_EQ(run.global_batch, 64);
  EXPECT_EQ(run.precision, "bf16");
  EXPECT_EQ(run.layout, "tp2.cp1.pp1.dp4.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b");
  EXPECT_EQ(run.step_s, 2.5);
  EXPECT_EQ(run.peak_bytes, int64_t{20} << 30);
  // PaLM definition: (6 N + 12 L H Q T) tokens / step over the peak of 8 devices.
  ASSERT_TRUE(run.mfu.has_value());
  EXPECT_GT(*run.mfu, 0.03);
  EXPECT_LT(*run.mfu, 0.1);
  EXPECT_THAT(run.model_hash, SizeIs(32));
  EXPECT_NE(run.model_hash, run.training_hash);
  EXPECT_EQ(read.runs[1].outcome, db::TrialState::kOom);
  EXPECT_FALSE(read.runs[1].step_s.has_value());
  EXPECT_EQ(read.runs[1].model_hash, run.model_hash);
}

TEST(ReadImport, ARowHasOneHashHoweverItIsWritten) {
  const std::string hash = Read(File({kGood})).runs.at(0).run.row_hash;
  EXPECT_EQ(Read(File({kOom, kGood})).runs.at(1).run.row_hash, hash);
  // Columns in another order, quotes, blanks, a number in another form, a column more.
  const std::string other =
      "pet,step_time_s,source,sweep,model,layers,hidden,ffn,heads,kv_heads,vocab,seq,gpu,gpus,"
      "gpus_per_node,tp,pp,cp,dp,vpp,mbs,gbs,precision,zero_stage,framework,outcome,peak_mem_gib,"
      "notes\r\n"
      "cat,2.50,\"a lab\", table 1,llama-x,16,2048,5632,16,16,32000,2048,H100,8,8,2,1,1,4,1,1,64,"
      "bf16,1,megatron-lm,ok,20.0,by hand\r\n";
  EXPECT_EQ(Read(other).runs.at(0).run.row_hash, hash);
  std::string faster = kGood;
  faster.replace(faster.find("2.5"), 3, "2.4");
  EXPECT_NE(Read(File({faster})).runs.at(0).run.row_hash, hash);
}

TEST(ReadImport, OptionsOfTheRunArePartOfItsTraining) {
  const db::NewImport plain = Read(File({kGood})).runs.at(0);
  EXPECT_EQ(plain.training_json.find("loss"), std::string::npos);
  std::string noted = kGood;
  noted.replace(noted.find("by hand"), 7, "loss=chunked:8");
  const db::NewImport chunked = Read(File({noted})).runs.at(0);
  EXPECT_THAT(chunked.training_json, HasSubstr(R"("loss":"chunked:8")"));
  EXPECT_NE(chunked.training_hash, plain.training_hash);
  EXPECT_EQ(chunked.model_hash, plain.model_hash);
}

TEST(ReadImport, WhatCantBePlannedIsRefusedByItsLine) {
  std::string no_outcome = kGood;
  no_outcome.replace(no_outcome.find(",ok,"), 4, ",,");
  std::string three_ranks = kGood;
  three_ranks.replace(three_ranks.find(",2,1,1,4,"), 9, ",3,1,1,4,");
  std::string too_fast = kGood;
  too_fast.replace(too_fast.find("2.5"), 3, "1e-4");
  const ReadRuns read =
      Read(File({kUnknownGpu, kGood, kBrokenNumber, no_outcome, three_ranks, too_fast}));
  EXPECT_EQ(read.rows, 6);
  EXPECT_THAT(read.runs, SizeIs(1));
  ASSERT_THAT(read.refused, SizeIs(5));
  EXPECT_EQ(read.refused[0].line, 2);
  EXPECT_EQ(read.refused[0].subject, "gpu");
  EXPECT_THAT(read.refused[0].reason, AllOf(StartsWith("gpu = X9: "), HasSubstr("; nearest: ")));
  EXPECT_EQ(read.refused[1].line, 4);
  EXPECT_EQ(read.refused[1].subject, "tp");
  EXPECT_THAT(read.refused[1].reason, StartsWith("tp = two: "));
  EXPECT_EQ(read.refused[2].reason, "outcome = (empty): must be ok, oom or error");
  EXPECT_THAT(read.refused[3].reason, HasSubstr("8 devices"));
  EXPECT_EQ(read.refused[4].subject, "step_time_s");
  EXPECT_THAT(read.refused[4].reason, StartsWith("step_time_s = 0.0001: makes an MFU of"));
  EXPECT_THAT(std::string(StatusOf(read.refused).message()),
              AllOf(StartsWith("line 2: gpu = X9: "), HasSubstr("; line 4: tp = two: ")));
}

TEST(ReadImport, WhatIsNoTableOrTooLongIsRefused) {
  const auto nonsense = ReadImport("no table", 4, {});
  EXPECT_TRUE(absl::IsInvalidArgument(nonsense.status()));
  std::string long_text = kGood;
  long_text.replace(0, 5, std::string(300, 'x'));
  EXPECT_EQ(Read(File({long_text})).refused.at(0).reason,
            "source = (300 bytes): must be at most 256 bytes");
  std::string many = "sweep\n";
  for (int64_t i = 0; i <= kMostImportedRows; ++i) many += "s\n";
  const auto refused = ReadImport(many, 4, {});
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("(20001 rows)"));
  EXPECT_TRUE(absl::IsCancelled(ReadImport(File({kGood}), 4, [] { return true; }).status()));
}

class ImportTest : public ServerFixture {
 protected:
  grpc::Status Import(const v1::ImportMeasurementsRequest& request,
                      v1::ImportMeasurementsResponse* response) {
    grpc::ClientContext context;
    return sweeps_->ImportMeasurements(&context, request, response);
  }
  v1::ImportMeasurementsResponse Imported(const v1::ImportMeasurementsRequest& request) {
    v1::ImportMeasurementsResponse response;
    const grpc::Status status = Import(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  static v1::ImportMeasurementsRequest Of(const std::vector<std::string>& rows) {
    v1::ImportMeasurementsRequest request;
    request.set_csv(File(rows));
    return request;
  }
  std::vector<v1::Trial> Where(const std::string& filter) {
    grpc::ClientContext context;
    v1::ListTrialsRequest request;
    request.set_parent("sweeps/-");
    request.set_filter(filter);
    v1::ListTrialsResponse response;
    const grpc::Status status = sweeps_->ListTrials(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return {response.trials().begin(), response.trials().end()};
  }
};

TEST_F(ImportTest, RowsAreAddedOnceAndListed) {
  v1::ImportMeasurementsResponse answer = Imported(Of({kGood, kOom, kGood}));
  EXPECT_EQ(answer.rows(), 3);
  EXPECT_EQ(answer.imported(), 2);
  EXPECT_EQ(answer.known(), 1);
  answer = Imported(Of({kOom, kGood}));
  EXPECT_EQ(answer.imported(), 0);
  EXPECT_EQ(answer.known(), 2);
  const std::vector<v1::Trial> found = Where("source = imported and tp = 2");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].name(), "");
  EXPECT_EQ(found[0].unreadable(), "");
  EXPECT_EQ(found[0].state(), v1::TRIAL_STATE_OK);
  EXPECT_EQ(found[0].cluster(), "h100");
  EXPECT_EQ(found[0].figures().step_s(), 2.5);
  EXPECT_EQ(found[0].imported().origin(), "a lab");
  EXPECT_EQ(found[0].imported().framework(), "megatron-lm");
  EXPECT_GT(found[0].imported().import_time().seconds(), 0);
  EXPECT_THAT(Where("outcome = oom"), SizeIs(1));
}

TEST_F(ImportTest, NothingOfAFileWithABadRowUnlessItIsLeftOut) {
  v1::ImportMeasurementsRequest request = Of({kGood, kUnknownGpu});
  v1::ImportMeasurementsResponse answer;
  const grpc::Status status = Import(request, &answer);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              AllOf(HasSubstr("line 3: gpu = X9: "), HasSubstr("Nothing was imported")));
  EXPECT_THAT(Where(""), IsEmpty());
  request.set_validate_only(true);
  answer = Imported(request);
  EXPECT_EQ(answer.rows(), 2);
  EXPECT_EQ(answer.imported(), 0);
  ASSERT_EQ(answer.refused_size(), 1);
  EXPECT_EQ(answer.refused(0).line(), 3);
  EXPECT_THAT(Where(""), IsEmpty());
  request.set_validate_only(false);
  request.set_skip_refused(true);
  answer = Imported(request);
  EXPECT_EQ(answer.imported(), 1);
  EXPECT_EQ(answer.refused(0).subject(), "gpu");
  EXPECT_THAT(Where(""), SizeIs(1));
}

TEST_F(ImportTest, WhatIsTooLongIsRefusedByItsField) {
  v1::ImportMeasurementsRequest request;
  request.set_csv(std::string((4 << 20) + 1, 'x'));
  v1::ImportMeasurementsResponse answer;
  const grpc::Status status = Import(request, &answer);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("csv = (4194305 bytes)"));
}

// A row may say that this project's worker ran the very layout: that is still no result of a trial.
TEST_F(ImportTest, ASweepOfTheSameRunsAllTheSame) {
  const std::string row =
      "here,mine,tinystories-15m,,,,,,,64,local-cpu,4,4,1,1,1,4,1,1,8,fp32,1,meshwright,ok,0.5,,\n";
  const v1::ImportMeasurementsResponse answer = Imported(Of({row}));
  ASSERT_EQ(answer.imported(), 1) << answer.refused(0).reason();
  v1::CreateSweepRequest request = TinySweep(0);
  request.set_fresh(false);
  request.add_layouts(Where("source = imported").at(0).layout());
  v1::Sweep sweep;
  ASSERT_TRUE(Create(request, &sweep).ok());
  EXPECT_EQ(sweep.trials_reused(), 0);
  EXPECT_EQ(Trials(sweep.name()).at(0).state(), v1::TRIAL_STATE_PENDING);
}

}  // namespace
}  // namespace meshwright::server
