// How near the planner comes to published runs, where those are there: with the shipped presets,
// and across sweeps, fitted to one and judged on the others.
//
// The bounds are what the planner reaches with a little room, so that a change that costs accuracy
// shows. The shipped profiles are fitted to most of these runs; the cross-sweep test is the one
// that says how far a fit carries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "planner/calibration/calibrate.h"
#include "planner/calibration/constants.h"
#include "planner/catalog/catalog.h"
#include "planner/measurement/metrics.h"
#include "planner/measurement/validation.h"
#include "tests/planner/measurements_folder.h"

namespace meshwright::planner {
namespace {

constexpr const char* kFiles[] = {"hagemann.csv", "nanotron_ultrascale.csv", "vtrain.csv",
                                  "nvidia_dgxc.csv", "simumax_b200.csv"};

std::vector<Measurement> ReadRuns(const char* name) {
  std::ifstream file(MeasurementsFolder() / name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return ParseMeasurements(text.str()).value();
}

const MeasurementPresets& Presets() {
  static const auto* const kPresets = new MeasurementPresets(LoadMeasurementPresets(2).value());
  return *kPresets;
}

std::vector<RowPrediction> PredictAll(const std::vector<Measurement>& runs,
                                      const MeasurementPresets& presets) {
  std::vector<RowPrediction> rows;
  rows.reserve(runs.size());
  for (const Measurement& run : runs) {
    rows.push_back(PredictRow(static_cast<int64_t>(rows.size()), run, presets));
  }
  return rows;
}

class PublishedAccuracy : public testing::Test {
 protected:
  void SetUp() override {
    const auto there = [](const char* name) {
      return std::filesystem::exists(MeasurementsFolder() / name);
    };
    if (std::all_of(std::begin(kFiles), std::end(kFiles), there)) return;
    // CTest shows the test as skipped by this line.
    std::cout << "[  SKIPPED ] the whole file: no measurements in " << MeasurementsFolder() << "\n";
    GTEST_SKIP() << "MESHWRIGHT_MEASUREMENTS names a folder with them";
  }
};

// Hagemann et al., arXiv 2311.05610: five sweeps on A100-80, Aleph Alpha's scaling library.
class Hagemann : public PublishedAccuracy {
 protected:
  void SetUp() override {
    PublishedAccuracy::SetUp();
    if (IsSkipped()) return;
    runs_ = ReadRuns("hagemann.csv");
    rows_ = PredictAll(runs_, Presets());
    report_ = ReportValidation(rows_);
  }

  const SweepReport& Sweep(const std::string& name) const {
    return *std::find_if(report_.sweeps.begin(), report_.sweeps.end(),
                         [&name](const SweepReport& sweep) { return sweep.sweep == name; });
  }

  std::vector<Measurement> runs_;
  std::vector<RowPrediction> rows_;
  ValidationReport report_;
};

TEST_F(Hagemann, RunsOutOfMemoryAreForeseen) {
  const SweepReport& total = report_.total;
  ASSERT_EQ(total.modelled, 707);
  EXPECT_LE(static_cast<double>(total.oom_missed), 0.015 * static_cast<double>(total.oom));
  EXPECT_GE(static_cast<double>(total.ok_kept), 0.80 * static_cast<double>(total.ok));
  EXPECT_GE(*total.oom_accuracy, 0.96);
}

TEST_F(Hagemann, NoPickRunsOutOfMemory) {
  ASSERT_EQ(report_.sweeps.size(), 5u);
  for (const SweepReport& sweep : report_.sweeps) {
    for (const OptionalInt& pick : {sweep.pick_safe, sweep.pick_likely}) {
      ASSERT_TRUE(pick) << sweep.sweep;
      EXPECT_EQ(rows_[static_cast<size_t>(*pick)].outcome, RunOutcome::kOk) << sweep.sweep;
    }
  }
}

TEST_F(Hagemann, ThePickIsAmongTheFastest) {
  double sum_points = 0.0;
  for (const SweepReport& sweep : report_.sweeps) {
    EXPECT_LE(*sweep.regret_likely_points, 4.0) << sweep.sweep;
    sum_points += *sweep.regret_likely_points;
  }
  EXPECT_LE(sum_points / static_cast<double>(report_.sweeps.size()), 1.0);
}

TEST_F(Hagemann, MfuIsWithinTwoPoints) { EXPECT_LE(*report_.total.mfu_mae_points, 2.0); }

TEST_F(Hagemann, LayoutsAreRankedAsMeasured) {
  EXPECT_GE(*Sweep("llama_30B_256_GPUs").spearman, 0.93);
  EXPECT_GE(*Sweep("llama_13B_8k_64_GPUs_sp").spearman, 0.93);
  EXPECT_GE(*Sweep("llama_13B_64_GPUs").spearman, 0.88);
}

// In the 13B sweep the seven runs with FlashAttention-2, full recompute and two stages took 4 % to
// 63 % longer than the same layouts with FlashAttention-1, the slower kernel. No other run shows
// such a thing, so the model does not either; without the seven it ranks this sweep like the
// others.
TEST_F(Hagemann, LayoutsOf13BAreRankedAsMeasuredButForSevenOddRuns) {
  std::vector<PredictedMeasured> pairs;
  int odd = 0;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const RowPrediction& row = rows_[i];
    if (row.sweep != "llama_13B_64_GPUs" || !row.tokens_per_s_per_device) continue;
    if (runs_[i].attn == "flash2" && runs_[i].act_ckpt == "full" && runs_[i].pp == 2) {
      ++odd;
      continue;
    }
    pairs.push_back({row.predicted->tokens_per_s_per_device, *row.tokens_per_s_per_device});
  }
  EXPECT_EQ(odd, 7);
  EXPECT_EQ(pairs.size(), 67u);
  EXPECT_GE(*Spearman(pairs), 0.93);
}

// Fitted constants back at what was known before any run, those too that a fit of everything leaves
// alone, so that the judged sweeps have told none of them anything. What the profile says of
// memory, and from where on a full device is slower, stays: no calibration fits that.
void ForgetFits(ClusterSpec& cluster, FrameworkProfile& profile) {
  for (const CalibrationConstant& constant : CalibrationConstants()) {
    *constant.field(cluster, profile) =
        PriorOf(constant, cluster, profile, PriorSource::kRecorded).value;
  }
}

using Kernels = std::set<std::string>;

struct Judged {
  std::vector<double> errors;

  double mean() const { return *Mean(errors); }
};

// Step-time errors by sweep, of rows with a step time whose attention and norm kernels are among
// those given.
std::map<std::string, Judged> StepErrors(const std::vector<Measurement>& runs,
                                         const MeasurementPresets& presets,
                                         const Kernels& attention, const Kernels& norms) {
  std::map<std::string, Judged> errors;
  for (const Measurement& run : runs) {
    if (!attention.contains(run.attn) || !norms.contains(run.norm_kernel)) continue;
    const RowPrediction row = PredictRow(0, run, presets);
    if (!row.predicted || !row.step_s) continue;
    errors[run.sweep].errors.push_back(std::abs(row.predicted->step_s / *row.step_s - 1.0));
  }
  return errors;
}

TEST_F(Hagemann, AFitToOneSweepCarriesToTheOthers) {
  CalibrationRequest request;
  request.measurements = runs_;
  request.presets = Presets();
  request.options.priors = PriorSource::kRecorded;
  request.cluster = FindCluster("a100-80", 2).value();
  request.profile = FindProfile("aleph-alpha-scaling").value();
  ForgetFits(request.cluster, request.profile);
  std::cout << absl::StrFormat("%-25s %5s   %s\n", "fitted to", "rows",
                               "mean step error of the others (rows)");
  for (const SweepReport& sweep : report_.sweeps) {
    request.sweeps = {sweep.sweep};
    const absl::StatusOr<CalibrationResult> fit = Calibrate(request);
    ASSERT_TRUE(fit.ok()) << fit.status();
    Kernels attention;
    Kernels norms;
    for (const Measurement& run : runs_) {
      if (run.sweep != sweep.sweep || run.outcome != RunOutcome::kOk) continue;
      attention.insert(run.attn);
      norms.insert(run.norm_kernel);
    }
    MeasurementPresets fitted = Presets();
    fitted.cluster = fit->fit.cluster;
    fitted.profile = fit->fit.profile;
    std::vector<double> others;
    std::cout << absl::StrFormat("%-25s %5d ", sweep.sweep, fit->rows.size());
    for (const auto& [name, judged] : StepErrors(runs_, fitted, attention, norms)) {
      if (name == sweep.sweep) continue;
      EXPECT_LE(judged.mean(), 0.10) << name << ", fitted to " << sweep.sweep;
      others.insert(others.end(), judged.errors.begin(), judged.errors.end());
      std::cout << absl::StrFormat("  %s %.1f %% (%d)", name, 100.0 * judged.mean(),
                                   judged.errors.size());
    }
    std::cout << absl::StrFormat("  all %.1f %%\n", 100.0 * *Mean(others));
    EXPECT_GE(others.size(), 15u) << sweep.sweep;
    EXPECT_LE(*Mean(others), 0.08) << "fitted to " << sweep.sweep;
  }
}

// HuggingFace's ultra-scale runs with nanotron on H100.
TEST_F(PublishedAccuracy, Nanotron) {
  const ValidationReport report =
      ReportValidation(PredictAll(ReadRuns("nanotron_ultrascale.csv"), Presets()));
  EXPECT_GE(report.total.modelled, 2000);
  EXPECT_LE(*report.total.memory_median_error, 0.08);
  EXPECT_GE(*report.total.oom_accuracy, 0.93);
  EXPECT_GE(*report.total.spearman, 0.90);
  EXPECT_GE(*report.spearman_pooled, 0.90);
}

// vTrain's validation runs with Megatron-DeepSpeed on A100.
TEST_F(PublishedAccuracy, VTrain) {
  const SweepReport total = ReportValidation(PredictAll(ReadRuns("vtrain.csv"), Presets())).total;
  EXPECT_EQ(total.modelled, 761);
  EXPECT_LE(*total.step_time_mape, 0.12);
}

// The step times of a file's rows that `counts` is true of.
template <typename Counts>
std::vector<PredictedMeasured> StepsOf(const char* file, const Counts& counts) {
  std::vector<PredictedMeasured> steps;
  for (const Measurement& run : ReadRuns(file)) {
    if (!counts(run)) continue;
    const RowPrediction row = PredictRow(0, run, Presets());
    if (row.predicted && row.step_s) steps.push_back({row.predicted->step_s, *row.step_s});
  }
  return steps;
}

double MeanError(const std::vector<PredictedMeasured>& steps) {
  return *Mean(RelativeErrors(steps));
}

bool IsDense(const Measurement& run) { return !HasExperts(Presets().families, run); }
// No fit has seen their layers; docs/accuracy.md has their errors.
bool IsHybrid(const Measurement& run) {
  return run.model.starts_with("Nemotron") || run.model.starts_with("DeepSeekV4");
}
bool IsNarrow(const Measurement& run) { return run.precision != "bf16"; }

// NVIDIA's recipes: the rows that NeMo's profile was fitted to.
TEST_F(PublishedAccuracy, NvidiaDgxCloud) {
  const auto steps = StepsOf("nvidia_dgxc.csv", [](const Measurement& run) {
    const auto profile = ProfileOf(Presets(), run);
    return profile.ok() && (*profile)->name == "nemo" && IsDense(run) && !IsNarrow(run);
  });
  EXPECT_GE(steps.size(), 40u);
  EXPECT_LE(*Median(RelativeErrors(steps)), 0.05);
}

// Nothing was fitted to nvidia_nemo_perf.
TEST_F(PublishedAccuracy, ProductsInFp8AndFp4) {
  for (const auto& [file, rows] :
       {std::pair{"nvidia_dgxc.csv", 47u}, std::pair{"nvidia_nemo_perf.csv", 80u}}) {
    const auto steps =
        StepsOf(file, [](const Measurement& run) { return IsDense(run) && IsNarrow(run); });
    EXPECT_GE(steps.size(), rows) << file;
    EXPECT_LE(MeanError(steps), 0.15) << file;
  }
}

// Of nvidia_nemo_perf's rows two decided what the launches of experts cost.
TEST_F(PublishedAccuracy, ExpertsInFp8AndFp4) {
  for (const auto& [file, rows, most] :
       {std::tuple{"nvidia_dgxc.csv", 14u, 0.16}, std::tuple{"nvidia_nemo_perf.csv", 44u, 0.19}}) {
    const auto steps = StepsOf(file, [](const Measurement& run) {
      return !IsDense(run) && !IsHybrid(run) && IsNarrow(run);
    });
    EXPECT_GE(steps.size(), rows) << file;
    EXPECT_LE(MeanError(steps), most) << file;
  }
}

TEST_F(PublishedAccuracy, StepsWithExperts) {
  // Rows that state TFLOP/s alone are steps of one model from untuned to tuned, which no profile
  // tells apart.
  const auto steps = StepsOf("moe.csv", [](const Measurement& run) {
    return run.step_time_s || run.tokens_per_s_per_gpu;
  });
  EXPECT_GE(steps.size(), 15u);
  EXPECT_LE(MeanError(steps), 0.20);
}

// Runs with experts, to none of which anything was fitted: MFU within 5 points in the mean.
TEST_F(PublishedAccuracy, Experts) {
  double sum = 0.0;
  int rows = 0;
  for (const RowPrediction& row : PredictAll(ReadRuns("moe.csv"), Presets())) {
    if (!row.predicted || row.step_s || !row.mfu) continue;
    sum += std::abs(row.predicted->mfu - *row.mfu);
    ++rows;
  }
  EXPECT_GE(rows, 54);
  EXPECT_LE(sum / rows, 0.05);
}

// SimuMax's runs of few layers with Megatron on B200.
TEST_F(PublishedAccuracy, SimuMax) {
  const SweepReport total =
      ReportValidation(PredictAll(ReadRuns("simumax_b200.csv"), Presets())).total;
  EXPECT_GE(total.modelled, 43);
  EXPECT_LE(*total.memory_median_error, 0.05);
}

}  // namespace
}  // namespace meshwright::planner
