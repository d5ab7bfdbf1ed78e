#include "planner/measurement/planned_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/catalog/catalog.h"
#include "tests/planner/measurement/invented_row.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

const MeasurementPresets& Presets() {
  static const auto* const kPresets = new MeasurementPresets(LoadMeasurementPresets(2).value());
  return *kPresets;
}

template <typename Change>
RowPlan PlanChanged(Change change) {
  Measurement row = InventedRow();
  change(row);
  return PlanRow(row, Presets());
}

TEST(PlanRow, BuildsTheSpecs) {
  const RowPlan plan = PlanRow(InventedRow(), Presets());
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.reason, "");
  EXPECT_EQ(plan.row->model.layers(), 8);
  EXPECT_EQ(plan.row->model.groups.front().attention.kv_heads, 16);
  EXPECT_EQ(plan.row->model.groups.front().attention.head_dim, 64);
  EXPECT_EQ(plan.row->model.groups[0].ffn.kind, FfnKind::kSwiGlu);
  EXPECT_EQ(plan.row->cluster.name, "a100-80");
  EXPECT_EQ(plan.row->profile->name, "megatron");
  EXPECT_EQ(plan.row->devices, 8);
  EXPECT_EQ(plan.row->training, (TrainingSpec{.seq_len = 1024, .global_batch = 16}));
}

TEST(PlanRow, RedistributedLayersLeaveTheLastStageFewer) {
  const RowPlan plan = PlanChanged([](Measurement& row) {
    row.schedule = "1f1b+redis";
    row.vocab = 64000;  // about five layers
  });
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.layout->schedule, ScheduleKind::k1f1b);
  EXPECT_EQ(FormatStageSplit(plan.layout->stages), "6+2");
}

TEST(PlanRow, ARunShowsThatItsFrameworkHasTheSchedule) {
  for (const char* schedule : {"zb-2p", "v-half", "1f1b+vocab-1", "v-half+vocab-1"}) {
    const RowPlan plan = PlanChanged([&](Measurement& row) { row.schedule = schedule; });
    EXPECT_TRUE(plan.layout) << schedule << ": " << plan.reason;
  }
}

TEST(PlanRow, GpuAndMemoryChooseTheCluster) {
  const auto cluster = [](const char* gpu, OptionalNumber memory) {
    Measurement row = InventedRow();
    row.gpu = gpu;
    row.gpu_mem_gib = memory;
    const auto found = ClusterOf(Presets(), row);
    return found.ok() ? found->name : std::string(found.status().message());
  };
  EXPECT_EQ(cluster("A100-SXM", 80), "a100-80");
  EXPECT_EQ(cluster("A100-SXM-80GB", std::nullopt), "a100-80");
  EXPECT_EQ(cluster("A100-SXM", 40), "a100-40");
  EXPECT_EQ(cluster("a100", 40), "a100-40");
  EXPECT_EQ(cluster("H100-SXM", 80), "h100");
  EXPECT_EQ(cluster("H200-SXM", std::nullopt), "h200");
  EXPECT_EQ(cluster("B200-SXM (power limited)", std::nullopt), "b200");
  EXPECT_THAT(cluster("Quantum-1", std::nullopt), HasSubstr("gpu = Quantum-1: no cluster preset"));
  EXPECT_THAT(cluster("", std::nullopt), HasSubstr("no cluster preset"));
}

TEST(PlanRow, GpusGoByTheNamesOfNvidiaSmi) {
  const auto cluster = [](const char* gpu) {
    Measurement row = InventedRow();
    row.gpu = gpu;
    row.gpu_mem_gib.reset();
    const auto found = ClusterOf(Presets(), row);
    return found.ok() ? found->name : std::string(found.status().message());
  };
  EXPECT_EQ(cluster("NVIDIA A100-SXM4-80GB"), "a100-80");
  EXPECT_EQ(cluster("NVIDIA A100-SXM4-40GB"), "a100-40");
  EXPECT_EQ(cluster("A100-SXM4-40GB"), "a100-40");  // older drivers
  EXPECT_EQ(cluster("NVIDIA H100 80GB HBM3"), "h100");
  EXPECT_EQ(cluster("NVIDIA H200"), "h200");
  EXPECT_EQ(cluster("NVIDIA B200"), "b200");
  EXPECT_EQ(cluster("NVIDIA H100-SXM5-80GB"), "h100");
  EXPECT_EQ(cluster("Grace Blackwell GPU (GB200)"), "gb200");
  EXPECT_EQ(cluster("NVIDIA GB200"), "gb200");
  EXPECT_EQ(cluster("NVIDIA GH200 480GB"), "gh200");
  EXPECT_EQ(cluster("NVIDIA L40S"), "l40s");
  EXPECT_EQ(cluster("AMD Instinct MI300X"), "mi300x");
  EXPECT_EQ(cluster("local-cpu"), "local-cpu");
  EXPECT_EQ(cluster("H100 SXM"), "h100");
  // Other devices than the presets', whatever their names hold.
  EXPECT_EQ(cluster("NVIDIA H100 PCIe"), "h100-pcie");
  EXPECT_EQ(cluster("Tesla V100-SXM2-32GB"), "v100-32");
  EXPECT_EQ(cluster("NVIDIA GeForce RTX 4090"), "rtx-4090");
  EXPECT_EQ(cluster("NVIDIA L40"), "l40");
  EXPECT_THAT(cluster("NVIDIA CMP 170HX"), HasSubstr("no cluster preset"));
  EXPECT_THAT(cluster("Tesla P100-SXM2-16GB"), HasSubstr("gpu = Tesla P100-SXM2-16GB: no cluster"));
}

TEST(PlanRow, APresetsModelNeedsNoShape) {
  Measurement row;
  row.model = "Qwen2.5-7B";
  row.seq = 4096;
  row.gbs = 64;
  row.gpu = "H100";
  row.gpus = 8;
  row.tp = 2;
  row.pp = 1;
  row.mbs = 1;
  const RowPlan plan = PlanRow(row, Presets());
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.row->model, FindModel("qwen2.5-7b").value());
  row.layers = 4;
  row.vocab = 1000;
  const RowPlan smaller = PlanRow(row, Presets());
  ASSERT_TRUE(smaller.layout) << smaller.reason;
  EXPECT_EQ(smaller.row->model.layers(), 4);
  EXPECT_EQ(smaller.row->model.vocab, 1000);
  EXPECT_EQ(smaller.row->model.hidden, plan.row->model.hidden);
  row.model = "qwen2.5-8b";
  EXPECT_EQ(PlanRow(row, Presets()).reason, "hidden = (empty): this column is needed");
}

TEST(PlanRow, AModelIsItsPresetHoweverItIsSpelt) {
  const auto model = [](const char* name) {
    return PlanChanged([name](Measurement& r) {
             r.model = name;
             r.vocab.reset();
           })
        .row->model.name;
  };
  for (const char* name :
       {"Llama2-7B", "meta-llama/Llama-2-7b-hf", "llama_2_7b_chat", "llama2-7b-8L"}) {
    EXPECT_EQ(model(name), "llama-2-7b") << name;
  }
  EXPECT_EQ(model("Meta Llama3.1-405B proxy"), "Meta Llama3.1-405B proxy");
  EXPECT_EQ(model("llama3.1-405b"), "llama-3-405b");
  EXPECT_EQ(model("llama-2-77b"), "llama-2-77b");
}

TEST(PlanRow, AnUnstatedVocabularyIsThatOfTheFamilysTokenizer) {
  const auto vocab = [](const char* name, const char* notes) {
    return PlanChanged([&](Measurement& r) {
             r.model = name;
             r.notes = notes;
             r.vocab.reset();
           })
        .row->model.vocab;
  };
  EXPECT_EQ(vocab("gpt3-5B", ""), 50257);
  EXPECT_EQ(vocab("llama3-1B", ""), 128256);
  EXPECT_EQ(vocab("gpt3-5B", "flags: vocab-size=131073 x"), 131073);
}

TEST(PlanRow, AnUnstatedMicroBatchIsTheFastestThatFitsWhateverWasMeasured) {
  const auto pick = [](OptionalNumber step_time_s, double memory_gib) {
    return PlanChanged([&](Measurement& r) {
             r.mbs.reset();
             r.gbs = 64;
             r.gpu_mem_gib = memory_gib;
             r.step_time_s = step_time_s;
           })
        .layout->micro_batch;
  };
  const int32_t roomy = pick(std::nullopt, 80);
  EXPECT_GT(roomy, 1);
  EXPECT_EQ(pick(0.001, 80), roomy);
  EXPECT_EQ(pick(1000.0, 80), roomy);
  EXPECT_LT(pick(std::nullopt, 4), roomy);
}

TEST(PlanRow, ARowThatTellsOfMemoryAloneNeedsNoGlobalBatch) {
  const auto without_batch = [](Measurement& row) {
    row.pp = 1;
    row.mbs = 2;
    row.gbs = std::nullopt;
    row.outcome = RunOutcome::kOom;
  };
  const RowPlan plan = PlanChanged(without_batch);
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.row->training.global_batch, 8);  // dp 4, one micro-batch of 2 each

  const auto refusal = [&](auto change) {
    return PlanChanged([&](Measurement& row) {
             without_batch(row);
             change(row);
           })
        .reason;
  };
  const auto needed = HasSubstr("gbs = (empty): this column is needed");
  EXPECT_THAT(refusal([](Measurement& row) { row.step_time_s = 3.0; }), needed);
  EXPECT_THAT(refusal([](Measurement& row) { row.mfu = 0.3; }), needed);
  EXPECT_THAT(refusal([](Measurement& row) { row.tflops_per_gpu = 100.0; }), needed);
  EXPECT_THAT(refusal([](Measurement& row) { row.tokens_per_s_per_gpu = 100.0; }), needed);
  EXPECT_THAT(refusal([](Measurement& row) { row.pp = 2; }), needed);
}

TEST(PlanRow, ARunShowsThatItsFrameworkHasItsSchedule) {
  const RowPlan plan = PlanChanged([](Measurement& r) { r.schedule = "zb-1p"; });
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.layout->schedule, ScheduleKind::kZbH1);
  EXPECT_FALSE(plan.row->profile->supports.has_zb_h1);
}

TEST(PlanRow, TheRowsNodesAndUnusualMemoryGoBeforeThePreset) {
  Measurement row = InventedRow();
  row.gpus_per_node = 4;
  EXPECT_EQ(ClusterOf(Presets(), row)->devices_per_node, 4);
  EXPECT_EQ(ClusterOf(Presets(), row)->device, FindCluster("a100-80", 1)->device);
  row.gpu = "H100-SXM-96GB";
  EXPECT_EQ(ClusterOf(Presets(), row)->name, "h100-96");
  row.gpu_mem_gib = 64;
  EXPECT_EQ(ClusterOf(Presets(), row)->device.memory_bytes, int64_t{64} << 30);
}

// A rack's links connect 72 devices whatever number of them a host has.
TEST(PlanRow, ARowsNodesLeaveARacksDomainWhole) {
  Measurement row = InventedRow();
  row.gpu = "GB200";
  row.gpu_mem_gib.reset();
  row.gpus_per_node = 4;
  EXPECT_EQ(ClusterOf(Presets(), row)->name, "gb200");
  EXPECT_EQ(ClusterOf(Presets(), row)->devices_per_node, 72);
}

TEST(PlanRow, FrameworkByLongestPrefix) {
  MeasurementPresets presets;
  presets.profiles.resize(3);
  presets.profiles[0].name = "mega";
  presets.profiles[1].name = "megatron";
  presets.profiles[2].name = "other";
  presets.profiles[2].aliases = {"torch-fsdp"};
  Measurement row;
  EXPECT_EQ(ProfileOf(presets, row).value()->name, "megatron");
  row.framework = "Megatron-DeepSpeed";
  EXPECT_EQ(ProfileOf(presets, row).value()->name, "megatron");
  row.framework = "torch-fsdp2";
  EXPECT_EQ(ProfileOf(presets, row).value()->name, "other");
  row.framework = "unheard-of";
  EXPECT_THAT(std::string(ProfileOf(presets, row).status().message()),
              HasSubstr("framework = unheard-of: no framework profile"));
}

TEST(PlanRow, AnEngineVersionGoesByTheNotes) {
  MeasurementPresets presets;
  presets.profiles.resize(2);
  presets.profiles[0].name = "engine-old";
  presets.profiles[0].aliases = {"engine"};
  presets.profiles[0].notes_contain = "job 12|fixed=False";
  presets.profiles[1].name = "engine";
  Measurement row;
  row.framework = "engine";
  EXPECT_EQ(ProfileOf(presets, row).value()->name, "engine");
  row.notes = "a; fixed=False; b";
  EXPECT_EQ(ProfileOf(presets, row).value()->name, "engine-old");
  row.notes = "job 1234; fixed=True";
  EXPECT_EQ(ProfileOf(presets, row).value()->name, "engine-old");
  row = Measurement();
  row.framework = "engine-old";
  EXPECT_EQ(ProfileOf(presets, row).value()->name, "engine-old");
}

// In whichever order the profiles stand.
TEST(PlanRow, OfTwoVersionsTheOneWhoseTextInTheNotesIsTheLongestCounts) {
  MeasurementPresets presets;
  presets.profiles.resize(2);
  const std::pair<const char*, const char*> versions[] = {{"any", "release"},
                                                          {"second", "release 2"}};
  Measurement row;
  row.framework = "engine";
  for (const size_t first : {0u, 1u}) {
    for (const size_t i : {0u, 1u}) {
      FrameworkProfile& profile = presets.profiles[(first + i) % 2];
      profile.name = versions[i].first;
      profile.aliases = {"engine"};
      profile.notes_contain = versions[i].second;
    }
    row.notes = "release 2; tuned";
    EXPECT_EQ(ProfileOf(presets, row).value()->name, "second") << first;
    row.notes = "release 1; tuned";
    EXPECT_EQ(ProfileOf(presets, row).value()->name, "any") << first;
  }
}

TEST(PlanRow, AChosenClusterAndFrameworkStandForEveryRow) {
  MeasurementPresets presets = Presets();
  presets.cluster = FindCluster("h200", 1).value();
  presets.profile = FindProfile("megatron").value();
  Measurement row = InventedRow();
  row.gpu = "Quantum-1";
  row.framework = "unheard-of";
  const RowPlan plan = PlanRow(row, presets);
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.row->cluster, *presets.cluster);
}

TEST(PlanRow, RefusesWithTheColumn) {
  OptionalInt Measurement::*const needed[] = {
      &Measurement::layers, &Measurement::hidden, &Measurement::ffn, &Measurement::heads,
      &Measurement::vocab,  &Measurement::seq,    &Measurement::gbs};
  const char* names[] = {"layers", "hidden", "ffn", "heads", "vocab", "seq", "gbs"};
  for (size_t i = 0; i < std::size(needed); ++i) {
    Measurement row = InventedRow();
    row.model = "of-no-family";
    (row.*needed[i]).reset();
    const RowPlan plan = PlanRow(row, Presets());
    EXPECT_EQ(plan.reason, std::string(names[i]) + " = (empty): this column is needed");
    EXPECT_EQ(plan.subject, names[i]);
    EXPECT_FALSE(plan.row);
  }
  EXPECT_THAT(PlanChanged([](Measurement& r) { r.layers = 0; }).reason, HasSubstr("layers = 0"));
  EXPECT_THAT(PlanChanged([](Measurement& r) { r.ep = 8; }).reason, HasSubstr("experts"));
  EXPECT_THAT(PlanChanged([](Measurement& r) { r.notes = "LoRA"; }).reason, HasSubstr("adapters"));
  EXPECT_THAT(PlanChanged([](Measurement& r) { r.precision = "int4"; }).reason,
              HasSubstr("precision = int4"));
  EXPECT_THAT(PlanChanged([](Measurement& r) { r.gpu = "X1"; }).reason, HasSubstr("gpu = X1"));
  EXPECT_THAT(PlanChanged([](Measurement& r) { r.framework = "x"; }).reason,
              HasSubstr("framework = x"));
  EXPECT_THAT(PlanChanged([](Measurement& r) { r.hidden = 1023; }).reason,
              HasSubstr("hidden = 1023: must be a multiple of heads = 16"));
  EXPECT_THAT(PlanChanged([](Measurement& r) { r.kv_heads = 3; }).reason,
              HasSubstr("num_key_value_heads = 3"));
}

TEST(PlanRow, ARuleThatTheLayoutBreaksKeepsTheSpecs) {
  const RowPlan plan = PlanChanged([](Measurement& r) { r.gbs = 15; });
  EXPECT_EQ(plan.reason, "global batch 15 is not a multiple of dp * micro-batch = 2");
  EXPECT_EQ(plan.subject, "batch_division");
  EXPECT_TRUE(plan.row);
  EXPECT_FALSE(plan.layout);
  EXPECT_THAT(PlanChanged([](Measurement& r) { r.ffn = 33; }).reason, HasSubstr("FFN width 33"));
  EXPECT_THAT(PlanChanged([](Measurement& r) { r.dp = 3; }).reason,
              HasSubstr("tp * cp * pp * dp is 12, but there are 8 devices"));
}

// A run shows that they could be.
TEST(PlanRow, SpreadsLayersThatDoNotDivideWithTheLastStagesShorter) {
  const RowPlan plan = PlanChanged([](Measurement& r) { r.layers = 7; });
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(FormatStageSplit(plan.layout->stages), "4+3");
}

TEST(PlanRow, ReadsExpertsFromTheNotes) {
  const RowPlan plan = PlanChanged([](Measurement& r) {
    r.model = "some-moe";
    r.vocab = 1024;
    r.ep = 2;
    r.notes =
        "experts=8;top_k=2;moe_ffn=512;shared_ffn=256;dense_layers=1;etp=tied to tp;"
        "token drop capacity_factor=1.5";
  });
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.layout->ep, 2);
  EXPECT_EQ(plan.layout->etp, plan.layout->tp);
  EXPECT_TRUE(plan.layout->sequence_parallel);
  ASSERT_EQ(plan.row->model.groups.size(), 2u);
  EXPECT_EQ(plan.row->model.groups[0].count, 1);
  const Ffn& ffn = plan.row->model.groups[1].ffn;
  EXPECT_EQ(ffn.hidden, 512);
  EXPECT_EQ(ffn.experts.count, 8);
  EXPECT_EQ(ffn.experts.top_k, 2);
  EXPECT_EQ(ffn.experts.shared_hidden, 256);
  EXPECT_DOUBLE_EQ(ffn.experts.capacity_factor, 1.5);
  EXPECT_THAT(
      PlanChanged([](Measurement& r) { r.notes = "num-experts=8 moe-router-topk=2"; }).reason,
      HasSubstr("ep = (empty)"));
}

// A source that says ep alone and runs on as many ranks can't have divided each expert.
TEST(PlanRow, ExpertsAreWholeWhereThereAreNoRanksToDivideThem) {
  const auto expert_ranks = [](int64_t ep) {
    return PlanChanged([ep](Measurement& r) {
             r.model = "some-moe";
             r.vocab = 1024;
             r.tp = 2;
             r.pp = 1;
             r.dp = 4;
             r.ep = ep;
             r.notes = "experts=8;top_k=2;moe_ffn=512";
           })
        .layout.value_or(Layout())
        .etp;
  };
  EXPECT_EQ(expert_ranks(4), 2);
  EXPECT_EQ(expert_ranks(8), 1);
}

// By the FLOPs of a token that the source divides by.
TEST(PlanRow, FindsOutWhetherFurtherTokensWerePredicted) {
  const auto layers = [](double tflops) {
    return PlanChanged([tflops](Measurement& r) {
             r = Measurement();
             r.model = "DeepSeek-V3";
             r.gpu = "H100-SXM";
             r.gpus = 512;
             r.tp = 1;
             r.pp = 8;
             r.ep = 64;
             r.seq = 4096;
             r.gbs = 4096;
             r.tokens_per_s_per_gpu = 1000.0;
             r.tflops_per_gpu = tflops;
           })
        .row->model.mtp_layers;
  };
  EXPECT_EQ(layers(250.0), 0);
  EXPECT_EQ(layers(260.0), 1);
}

}  // namespace
}  // namespace meshwright::planner
