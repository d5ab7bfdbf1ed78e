#include "planner/measurement/measured_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/catalog/catalog.h"
#include "planner/measurement/planned_row.h"
#include "planner/measurement/run_rows.h"
#include "tests/planner/changed_options.h"
#include "tests/planner/measurement/invented_row.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

const MeasurementPresets& PresetsForOptions() {
  static const auto* const kPresets = new MeasurementPresets(LoadMeasurementPresets(2).value());
  return *kPresets;
}

// The row of a run with the option's framework.
Measurement RowFor(const ChangedOption& option) {
  Measurement row = InventedRow();
  row.framework = option.framework;
  if (option.name == "compile") {
    row.tp = 1;
    row.pp = 1;
  }
  return row;
}

std::string Noted(const ChangedOption& option) {
  return std::string(option.name) + "=" + std::string(option.value);
}

// What PlanRow() makes of the row's options; the reason if it refuses the row.
OptionValues PlannedOptions(const Measurement& row) {
  const RowPlan plan = PlanRow(row, PresetsForOptions());
  EXPECT_TRUE(plan.layout) << plan.reason;
  return plan.row ? ChangedOptions(plan.row->training) : OptionValues();
}

std::string RefusedFor(const Measurement& row) {
  const RowPlan plan = PlanRow(row, PresetsForOptions());
  EXPECT_FALSE(plan.row.has_value());
  return plan.subject;
}

TEST(MeasuredOptions, EachIsReadFromItsColumn) {
  for (const ChangedOption& option : OptionsOfDenseModels()) {
    Measurement row = RowFor(option);
    EXPECT_TRUE(PlannedOptions(row).empty()) << option.name;
    ASSERT_TRUE(SetCell(option.name, option.value, row).ok());
    EXPECT_EQ(PlannedOptions(row), ChangedOptions(WithOption({}, option))) << option.name;
  }
}

TEST(MeasuredOptions, EachIsReadFromTheNotes) {
  for (const ChangedOption& option : OptionsOfDenseModels()) {
    Measurement row = RowFor(option);
    row.notes = "table 3;" + Noted(option) + "; by hand";
    EXPECT_EQ(PlannedOptions(row), ChangedOptions(WithOption({}, option))) << option.name;
  }
}

TEST(MeasuredOptions, AColumnGoesBeforeANote) {
  for (const ChangedOption& option : OptionsOfDenseModels()) {
    Measurement row = RowFor(option);
    row.notes = Noted(option);
    ASSERT_TRUE(SetCell(option.name, DefaultOptionText(option.name), row).ok());
    EXPECT_TRUE(PlannedOptions(row).empty()) << option.name;
  }
}

TEST(MeasuredOptions, AValueThatCantBeReadRefusesTheRowByTheOption) {
  for (const ChangedOption& option : OptionsOfDenseModels()) {
    Measurement row = RowFor(option);
    ASSERT_TRUE(SetCell(option.name, "magic", row).ok());
    EXPECT_EQ(RefusedFor(row), option.name);
    row = RowFor(option);
    row.notes = std::string(option.name) + "=magic";
    EXPECT_EQ(RefusedFor(row), option.name);
  }
}

TEST(MeasuredOptions, EachIsExportedAndReadAgain) {
  for (const ChangedOption& option : OptionsOfDenseModels()) {
    const TrainingSpec training = WithOption({.seq_len = 4096, .global_batch = 64}, option);
    const ModelSpec model = FindModel("llama-3.2-1b").value();
    const ClusterSpec cluster = FindCluster("h100", 2).value();
    const Layout layout = ParseLayout("tp1.cp1.pp1.dp8.mb1.zero1").value();
    const std::vector<MeasuredRun> runs = {{layout, RunOutcome::kOk, 0.5, int64_t{9} << 30}};
    const std::string csv =
        RunsToCsv({"night-run", option.framework, model, cluster, training}, runs);
    const auto rows = ParseMeasurements(csv);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_EQ(rows->front().other_cells.size(), 1u) << csv;
    const RowPlan plan = PlanRow(rows->front(), PresetsForOptions());
    ASSERT_TRUE(plan.row) << option.name << ": " << plan.reason;
    EXPECT_EQ(plan.row->training, training) << option.name;
  }
}

// experts=N in notes is the number of experts.
TEST(MeasuredOptions, StatesOfExpertsAreReadFromAColumnOrTheSourcesWords) {
  Measurement row = InventedRow();
  row.tp = 1;
  row.pp = 1;
  row.ep = 2;
  row.notes = "experts=8;top_k=2;moe_ffn=2816;dense_layers=0";
  EXPECT_TRUE(PlannedOptions(row).empty());
  const std::string plain = row.notes;
  row.notes += ";EP2 and experts replicated over the 4 groups";
  EXPECT_EQ(PlannedOptions(row), (OptionValues{{"experts", "replicated"}}));
  row.notes = plain;
  ASSERT_TRUE(SetCell("experts", "replicated", row).ok());
  EXPECT_EQ(PlannedOptions(row), (OptionValues{{"experts", "replicated"}}));
  ASSERT_TRUE(SetCell("experts", "magic", row).ok());
  EXPECT_EQ(RefusedFor(row), "experts");
}

TEST(MeasuredOptions, SomeChooseAProfileOfTheFramework) {
  const auto profile = [](const char* framework, const char* notes) {
    Measurement row = InventedRow();
    row.framework = framework;
    row.notes = notes;
    const RowPlan plan = PlanRow(row, PresetsForOptions());
    return plan.row ? plan.row->profile->name : plan.subject;
  };
  EXPECT_EQ(profile("torchtitan-fsdp", "compile=off"), "torchtitan-eager");
  EXPECT_EQ(profile("torchtitan-fsdp", "compile=on"), "torchtitan-fsdp");
  EXPECT_EQ(profile("nemo", "cuda_graphs=iteration"), "nemo-graphs");
  // Sources have their own spelling.
  EXPECT_EQ(profile("megatron-lm", "dispatcher=DeepEP"), "megatron-deepep");
  EXPECT_EQ(profile("megatron-lm", "dispatcher=AlltoAll"), "megatron");
  EXPECT_EQ(profile("megatron-lm", "compile=off"), "compile");
}

TEST(MeasuredOptions, SourcesHaveTheirOwnWords) {
  Measurement row = InventedRow();
  row.notes = "rounded;pure bf16 AdamW of 6 bytes per parameter";
  EXPECT_EQ(PlannedOptions(row), (OptionValues{{"states", "bf16"}}));
  row.notes = "bf16 optimizer states";
  EXPECT_EQ(PlannedOptions(row), (OptionValues{{"states", "precision-aware"}}));
  row.notes = "bf16 optimizer states; states=bf16-grads";
  EXPECT_EQ(PlannedOptions(row), (OptionValues{{"states", "bf16-grads"}}));
  row.notes = "26.06 NeMo Container; LoRA Performance";
  EXPECT_EQ(PlannedOptions(row), (OptionValues{{"train", "lora:16:q_proj,k_proj,v_proj"}}));
}

TEST(MeasuredOptions, WhatTheFrameworkOrTheModelLacksIsRefused) {
  Measurement row = InventedRow();
  row.precision = "fp32";
  row.notes = "states=bf16";
  EXPECT_EQ(RefusedFor(row), "states");
  row = InventedRow();
  ASSERT_TRUE(SetCell("train", "lora:8:experts", row).ok());
  EXPECT_EQ(RefusedFor(row), "train");
}

TEST(MeasuredOptions, AdaptersWithoutARankAreRefused) {
  Measurement row = InventedRow();
  row.notes = "LoRA finetuning (packed)";
  EXPECT_EQ(RefusedFor(row), "train");
  EXPECT_THAT(PlanRow(row, PresetsForOptions()).reason, HasSubstr("train=lora:16"));
  row.notes += ";train=lora:16";
  EXPECT_EQ(PlannedOptions(row), (OptionValues{{"train", "lora:16"}}));
}

}  // namespace
}  // namespace meshwright::planner
