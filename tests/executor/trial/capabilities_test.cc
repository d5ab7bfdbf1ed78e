#include "executor/trial/capabilities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/catalog/catalog.h"
#include "planner/rules/rule_list.h"
#include "planner/schedule/schedule.h"
#include "tests/executor/test_models.h"
#include "tests/planner/changed_options.h"

namespace meshwright::trial {
namespace {

absl::Status Check(const planner::Layout& layout, const planner::ModelSpec& model = TinyModel()) {
  return CheckRules(model, layout, TinyTraining(), planner::DeviceKind::kCpu);
}

TEST(CapabilitiesTest, LayoutsOfTpPpAndDpRun) {
  EXPECT_TRUE(Check({}).ok());
  EXPECT_TRUE(Check({.tp = 2, .pp = 2, .dp = 2, .micro_batch = 2}).ok());
  // Embedding and head take a layer's place each.
  EXPECT_TRUE(Check({.pp = 3}).ok());
}

TEST(CapabilitiesTest, EveryScheduleAndRecomputeModeRuns) {
  for (const planner::ScheduleKind schedule :
       {planner::ScheduleKind::kGpipe, planner::ScheduleKind::k1f1b,
        planner::ScheduleKind::kZbH1}) {
    EXPECT_TRUE(Check({.pp = 2, .schedule = schedule}).ok());
  }
  for (const planner::ScheduleKind schedule :
       {planner::ScheduleKind::kInterleaved, planner::ScheduleKind::kBreadthFirst,
        planner::ScheduleKind::kZbV}) {
    EXPECT_TRUE(Check({.pp = 2, .vpp = 2, .schedule = schedule}).ok());
  }
  EXPECT_TRUE(Check({.tp = 2, .cp = 2, .sequence_parallel = true}).ok());
  for (const planner::Recompute recompute :
       {planner::Recompute::kSelective, planner::Recompute::kFull, planner::Recompute::kBlock}) {
    EXPECT_TRUE(Check({.recompute = recompute, .recompute_layers = 1}).ok());
  }
}

TEST(CapabilitiesTest, SchedulesThatDoNotExistAreRefused) {
  EXPECT_THAT(std::string(Check({.pp = 2, .vpp = 2}).message()), testing::HasSubstr("vpp"));
  const planner::Layout uneven = {
      .pp = 2, .micro_batch = 8, .vpp = 2, .schedule = planner::ScheduleKind::kInterleaved};
  EXPECT_THAT(std::string(Check(uneven).message()), testing::HasSubstr("micro-batches"));
}

// What a search with the worker's profile takes, and what has a list of actions, runs, and nothing
// else does.
TEST(CapabilitiesTest, TheSameLayoutsPassASearchATrialAndTheListsOfActions) {
  planner::ModelSpec model = TinyModel();
  model.groups.front().count = 60;
  const planner::ClusterSpec cluster = planner::FindCluster("local-cpu", 2).value();
  planner::TrainingSpec training = TinyTraining();
  const planner::EstimateContext context{model, cluster, training, WorkerProfile()};
  int ran = 0;
  int refused = 0;
  for (const planner::ScheduleKind schedule :
       {planner::ScheduleKind::kGpipe, planner::ScheduleKind::k1f1b,
        planner::ScheduleKind::kInterleaved, planner::ScheduleKind::kBreadthFirst,
        planner::ScheduleKind::kZbH1, planner::ScheduleKind::kZbV}) {
    for (int32_t pp = 1; pp <= 5; ++pp) {
      for (int32_t vpp = 1; vpp <= 4; ++vpp) {
        for (int32_t m = 1; m <= 10; ++m) {
          for (const int32_t tp : {1, 2}) {
            const planner::Layout layout = {.tp = tp, .pp = pp, .vpp = vpp, .schedule = schedule};
            training.global_batch = m;
            const bool runs = CheckRules(model, layout, training, planner::DeviceKind::kCpu).ok();
            const std::string name = planner::FormatLayout(layout);
            EXPECT_EQ(runs, !planner::CheckLayout(context, layout.devices(), layout)) << name;
            if (planner::CanPartition(model.layers(), layout, planner::StagePartition::kEqual)) {
              EXPECT_EQ(runs, planner::MakeSchedules(layout, m).ok()) << name;
            }
            ++(runs ? ran : refused);
          }
        }
      }
    }
  }
  EXPECT_GT(ran, 500);
  EXPECT_GT(refused, 500);
}

struct Refused {
  planner::Layout layout;
  const char* named;
};

class RefusedLayoutTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedLayoutTest, NamesTheAxisAndWhatIsSupported) {
  const absl::Status status = Check(GetParam().layout);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr(GetParam().named));
}

INSTANTIATE_TEST_SUITE_P(
    Axes, RefusedLayoutTest,
    testing::Values(Refused{{.cp = 3}, "sequence length 16 is not a multiple of 2 * cp = 6"},
                    Refused{{.dp = 2, .zero = 4}, "ZeRO stages up to 3"},
                    Refused{{.sequence_parallel = true}, "(sp1) needs tp of at least 2"},
                    Refused{{.attention = planner::AttentionKernel::kEager}, "attn=eager"},
                    Refused{{.attention = planner::AttentionKernel::kCudnn}, "on cpu"},
                    Refused{{.norm = planner::NormKernel::kEager}, "norm=eager"},
                    Refused{{.tp = 4}, "2 key/value heads are not a multiple of tp = 4"},
                    Refused{{.pp = 5}, "4 layers can't be divided"},
                    Refused{{.dp = 3}, "global batch 8"}));

TEST(CapabilitiesTest, ModelsWithUnsupportedPartsAreRefused) {
  planner::ModelSpec alibi = TinyModel();
  alibi.positions = planner::Positions::kAlibi;
  EXPECT_THAT(std::string(Check({}, alibi).message()), testing::HasSubstr("alibi"));
}

TEST(CapabilitiesTest, ModelsWithNormedHeadsRun) {
  planner::ModelSpec model = TinyModel();
  model.groups.front().attention.qk_norm = true;
  EXPECT_TRUE(Check({}, model).ok());
  EXPECT_TRUE(Check({.tp = 2, .cp = 2, .sequence_parallel = true}, model).ok());
}

TEST(CapabilitiesTest, OptionsThatTheWorkerHasNoLayersForAreRefusedByName) {
  for (const planner::ChangedOption& option : planner::kChangedOptions) {
    const absl::Status status = CheckRules(
        TinyModel(), {}, planner::WithOption(TinyTraining(), option), planner::DeviceKind::kCpu);
    if (option.name == "optimizer") {
      EXPECT_TRUE(status.ok()) << status;  // it has Muon
    } else {
      EXPECT_EQ(FieldOf(status), option.name);
    }
  }
}

TEST(CapabilitiesTest, Fp64RunsOnProcessorsOnly) {
  planner::TrainingSpec training = TinyTraining();
  training.precision = planner::Precision::kFp64;
  EXPECT_TRUE(CheckRules(TinyModel(), {}, training, planner::DeviceKind::kCpu).ok());
  EXPECT_THAT(
      std::string(CheckRules(TinyModel(), {}, training, planner::DeviceKind::kCuda).message()),
      testing::HasSubstr("fp64 on cuda"));
}

struct Heads {
  int64_t head_dim = 64;
  planner::Precision precision = planner::Precision::kBf16;
  planner::AttentionKernel attention = planner::AttentionKernel::kDefault;
};

absl::Status CheckOnCuda(const Heads& heads) {
  planner::ModelSpec model = TinyModel();
  model.groups.front().attention.head_dim = heads.head_dim;
  planner::TrainingSpec training = TinyTraining();
  training.precision = heads.precision;
  return CheckRules(model, {.attention = heads.attention}, training, planner::DeviceKind::kCuda);
}

TEST(CapabilitiesTest, HeadsThatCudasAttentionTakesRun) {
  for (const Heads& heads : {Heads{.head_dim = 8}, Heads{.head_dim = 80}, Heads{.head_dim = 256},
                             Heads{.head_dim = 128, .attention = planner::AttentionKernel::kCudnn},
                             Heads{.head_dim = 12, .precision = planner::Precision::kFp32},
                             Heads{.head_dim = 512, .precision = planner::Precision::kFp32}}) {
    EXPECT_TRUE(CheckOnCuda(heads).ok()) << heads.head_dim << ": " << CheckOnCuda(heads);
  }
}

TEST(CapabilitiesTest, HeadsThatCudasAttentionDoesNotTakeAreRefusedWithThoseThatItDoes) {
  const auto message = [](const Heads& heads) { return std::string(CheckOnCuda(heads).message()); };
  EXPECT_EQ(message({.head_dim = 100}),
            "the worker can't run head_dim = 100 in bf16 with attn=flash2 on cuda; it runs "
            "multiples of 8 up to 256");
  EXPECT_THAT(message({.head_dim = 264}), testing::HasSubstr("head_dim = 264"));
  EXPECT_THAT(message({.head_dim = 192, .attention = planner::AttentionKernel::kCudnn}),
              testing::HasSubstr("attn=cudnn on cuda; it runs multiples of 8 up to 128"));
  EXPECT_THAT(message({.head_dim = 30, .precision = planner::Precision::kFp32}),
              testing::HasSubstr("head_dim = 30 in fp32 on cuda; it runs multiples of 4"));
}

TEST(CapabilitiesTest, HeadsOfAnyEvenSizeRunOnProcessors) {
  planner::ModelSpec model = TinyModel();
  model.groups.front().attention.head_dim = 10;
  EXPECT_TRUE(Check({}, model).ok());
}

TEST(CapabilitiesTest, JsonListsWhatTheCheckAccepts) {
  const nlohmann::json json = WorkerCapabilities();
  EXPECT_THAT(json["devices"], testing::ElementsAre("cpu", "cuda"));
  EXPECT_THAT(json["precisions"], testing::ElementsAre("fp32", "bf16", "fp64", "fp8-blockwise"));
  EXPECT_THAT(json["schedules"], testing::ElementsAre("gpipe", "1f1b", "interleaved",
                                                      "breadth_first", "zb_h1", "zb_v"));
  EXPECT_THAT(json["recompute"], testing::ElementsAre("none", "selective", "full", "block"));
  EXPECT_THAT(json["recompute_modules"], testing::ElementsAre("layernorm", "moe_act", "mla_up_proj",
                                                              "shared_experts", "mlp", "moe"));
  EXPECT_EQ(json["max_zero"], 3);
  EXPECT_EQ(json["hsdp"], true);
  EXPECT_EQ(json["qk_norm"], true);
  ASSERT_EQ(json["cuda_head_dims"].size(), 3u);
  EXPECT_EQ(
      json["cuda_head_dims"][0],
      (nlohmann::json{
          {"precision", "bf16"}, {"attention", "flash2"}, {"multiple_of", 8}, {"most", 256}}));
  EXPECT_EQ(json["cuda_head_dims"][2], (nlohmann::json{{"precision", "fp32"}, {"multiple_of", 4}}));
}

}  // namespace
}  // namespace meshwright::trial
