#include "planner/measurement/run_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/block/parameters.h"
#include "planner/catalog/catalog.h"
#include "planner/measurement/planned_row.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Specs {
  ModelSpec model = FindModel("llama-3.2-1b").value();
  ClusterSpec cluster = FindCluster("h100", 2).value();
  TrainingSpec training = {.seq_len = 4096, .global_batch = 64};

  std::string ToCsv(const std::vector<MeasuredRun>& runs) const {
    return RunsToCsv({"night-run", "meshwright", model, cluster, training}, runs);
  }
};

TEST(RunsToCsv, PlanRowReadsTheSameSpecsAndLayouts) {
  const Specs specs;
  const MeasurementPresets presets = LoadMeasurementPresets(2).value();
  std::vector<MeasuredRun> runs;
  for (const char* layout :
       {"tp2.cp1.pp2.dp2.mb2.vpp1.zero1.sp1.rc=none.sched=1f1b",
        "tp1.cp2.pp1.dp4.mb1.vpp1.zero3.sp0.rc=full.sched=1f1b",
        "tp1.cp1.pp2.dp4.mb1.vpp2.zero1.sp0.rc=block:1.sched=interleaved.attn=cudnn.norm=fused",
        "tp1.cp1.pp4.dp2.mb1.vpp2.zero0.sp0.rc=none.sched=zb_v"}) {
    runs.push_back({ParseLayout(layout).value(), RunOutcome::kOk, 0.5, int64_t{9} << 30});
  }
  const auto rows = ParseMeasurements(specs.ToCsv(runs));
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    const RowPlan plan = PlanRow((*rows)[i], presets);
    ASSERT_TRUE(plan.layout) << plan.reason;
    EXPECT_EQ(FormatLayout(*plan.layout), FormatLayout(runs[i].layout));
    EXPECT_EQ(plan.row->training, specs.training);
    EXPECT_EQ(plan.row->cluster, specs.cluster);
    EXPECT_EQ(plan.row->profile->name, "meshwright");
    EXPECT_EQ(plan.row->devices, 8);
    ModelSpec model = plan.row->model;
    model.rope_theta = specs.model.rope_theta;  // changes nothing that is estimated
    model.norm_epsilon = specs.model.norm_epsilon;
    EXPECT_EQ(model, specs.model);
  }
}

TEST(RunsToCsv, SaysWhatWasOffloaded) {
  const Specs specs;
  const Layout moved = ParseLayout("tp1.pp1.dp8.offload=act:3+opt").value();
  const Layout kept = ParseLayout("tp1.pp1.dp8").value();
  const auto rows = ParseMeasurements(
      specs.ToCsv({{moved, RunOutcome::kOk, 0.5, 100}, {kept, RunOutcome::kOk, 0.5, 100}}));
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->at(0).offload, "act:3+opt");
  EXPECT_EQ(rows->at(1).offload, "");
}

TEST(RunsToCsv, TellsWhatWasMeasuredInTheFormatsUnits) {
  const Specs specs;
  const Layout layout = ParseLayout("tp1.pp1.dp8").value();
  const auto rows =
      ParseMeasurements(specs.ToCsv({{layout, RunOutcome::kOk, 0.5, int64_t{9} << 30},
                                     {layout, RunOutcome::kOom, std::nullopt, 100},
                                     {layout, RunOutcome::kError, 0.5, std::nullopt}}));
  ASSERT_TRUE(rows.ok()) << rows.status();
  const Measurement& ok = rows->at(0);
  EXPECT_EQ(ok.sweep, "night-run");
  EXPECT_EQ(ok.outcome, RunOutcome::kOk);
  EXPECT_EQ(ok.step_time_s, 0.5);
  EXPECT_EQ(ok.peak_mem_gib, 9.0);
  EXPECT_DOUBLE_EQ(*ok.tokens_per_s_per_gpu, 64 * 4096 / 0.5 / 8);
  const double flops = PalmStepFlops(specs.model, specs.training) / 0.5 / 8;
  EXPECT_DOUBLE_EQ(*ok.tflops_per_gpu, flops / 1e12);
  EXPECT_DOUBLE_EQ(*ok.mfu, flops / specs.cluster.device.peak_bf16_flops);
  EXPECT_EQ(rows->at(1).outcome, RunOutcome::kOom);
  EXPECT_EQ(rows->at(1).step_time_s, std::nullopt);
  EXPECT_EQ(rows->at(2).outcome, RunOutcome::kError);
  EXPECT_EQ(rows->at(2).step_time_s, std::nullopt);
}

// Processor cores have no GPU's name: rows find their preset, or the file that calibrate starts
// from, by the cluster's own.
TEST(RunsToCsv, ClustersWithoutAGpusNameAreFoundByTheirOwn) {
  Specs specs;
  specs.cluster = FindCluster("local-cpu", 2).value();
  specs.training.precision = Precision::kFp32;
  const Layout layout = ParseLayout("tp1.pp1.dp4").value();
  const auto rows =
      ParseMeasurements(specs.ToCsv({{layout, RunOutcome::kOk, 20000.0, std::nullopt}}));
  ASSERT_TRUE(rows.ok()) << rows.status();
  const RowPlan plan = PlanRow(rows->front(), LoadMeasurementPresets(2).value());
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.row->cluster, specs.cluster);
  EXPECT_EQ(plan.row->training, specs.training);
}

TEST(FormatMeasurements, WritesWhatParseMeasurementsReads) {
  Measurement row;
  row.model = "a, \"b\"";
  row.tp = 2;
  row.mfu = 0.1;
  row.notes = "two\nlines";
  const std::string text = FormatMeasurements({row});
  EXPECT_THAT(text,
              StartsWith("source,sweep,model,layers,hidden,ffn,heads,kv_heads,vocab,seq,gpu,"));
  EXPECT_THAT(text, HasSubstr("peak_mem_gib,notes\n"));
  const auto rows = ParseMeasurements(text);
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().problem, "");
  EXPECT_EQ(rows->front().model, "a, 'b'");
  EXPECT_EQ(rows->front().tp, 2);
  EXPECT_EQ(rows->front().mfu, 0.1);
  EXPECT_EQ(rows->front().notes, "two lines");
  EXPECT_EQ(rows->front().outcome, RunOutcome::kUnknown);
}

// The store knows imported rows by it: later columns leave it as it is.
TEST(IdentityOf, HasTheColumnsOfOptionsThatTheRowFillsIn) {
  Measurement row;
  row.model = "m";
  const std::string plain = IdentityOf(row);
  EXPECT_THAT(plain, HasSubstr("offload,schedule,framework,outcome,"));
  EXPECT_THAT(FormatMeasurements({row}), HasSubstr("offload,schedule,states,"));
  ASSERT_TRUE(SetCell("loss", "chunked:8", row).ok());
  EXPECT_THAT(IdentityOf(row), HasSubstr("offload,schedule,loss,framework,outcome,"));
  EXPECT_THAT(IdentityOf(row), HasSubstr(",chunked:8,"));
}

TEST(FormatMeasurements, HasNothingThatATerminalObeys) {
  Measurement row;
  row.model = "m\x1b[2J";
  row.notes = "\x07";
  const std::string text = FormatMeasurements({row});
  EXPECT_THAT(text, HasSubstr("m\\x1b[2J"));
  EXPECT_THAT(text, HasSubstr("\\x07\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace meshwright::planner
