#include "planner/report/validation_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/codec/json_codec.h"
#include "planner/drawing/scatter_svg.h"
#include "planner/report/validation_fields.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;
using testing::Not;

// A run that fits, one that runs out and one that is not modelled.
std::vector<RowPrediction> ThreeRows() {
  RowPrediction ok;
  ok.sweep = "a<b";
  ok.outcome = RunOutcome::kOk;
  ok.predicted = Prediction{.peak_bytes = 1 << 30,
                            .fraction_of_device = 0.25,
                            .oom_probability = 0.125,
                            .step_s = 1.5,
                            .step_low_s = 1.5,
                            .step_high_s = 1.5,
                            .mfu = 0.5,
                            .tokens_per_s_per_device = 100.0};
  ok.step_s = 2.0;
  ok.tokens_per_s_per_device = 75.0;
  ok.mfu = 0.375;
  ok.peak_bytes = 2.0 * (1 << 30);
  RowPrediction oom;
  oom.row = 1;
  oom.sweep = "a<b";
  oom.outcome = RunOutcome::kOom;
  oom.predicted = ok.predicted;
  RowPrediction refused;
  refused.row = 2;
  refused.sweep = "c";
  refused.outcome = RunOutcome::kOk;
  refused.reason = "x = \"1\", and y";
  return {ok, oom, refused};
}

TEST(RowsToCsv, OneLinePerRow) {
  EXPECT_EQ(RowsToCsv(ThreeRows()),
            "row,sweep,peak_bytes,fraction_of_device,oom_probability,step_s,mfu,reason,"
            "step_low_s,step_high_s,measured_step_s,level,measured,peak_low_bytes,"
            "peak_high_bytes,measured_peak_bytes\n"
            "0,a<b,1073741824,0.25,0.125,1.5,0.5,,1.5,1.5,2,neither,0,0,0,2147483648\n"
            "1,a<b,1073741824,0.25,0.125,1.5,0.5,,1.5,1.5,,neither,0,0,0,\n"
            "2,c,,,,,,x = '1'; and y,,,,,0,,,\n");
}

TEST(ValidationFields, HaveTheKeysOfTheContract) {
  const auto json = WriteOrderedJson(ReportValidation(ThreeRows()));
  ASSERT_EQ(json["sweeps"].size(), 2u);
  for (const auto& entry : {json["sweeps"][0], json["total"]}) {
    for (const char* key : {"sweep",
                            "rows",
                            "ok",
                            "oom",
                            "error",
                            "modelled",
                            "oom_caught",
                            "oom_missed",
                            "ok_kept",
                            "ok_rejected",
                            "oom_accuracy",
                            "oom_auc",
                            "memory_median_error",
                            "mfu_mae_points",
                            "step_time_mape",
                            "spearman",
                            "regret_safe_points",
                            "regret_likely_points",
                            "pick_safe",
                            "pick_likely",
                            "choices",
                            "likely_out_of_memory",
                            "regret_likely_share",
                            "regret_likely_share_max",
                            "inside_interval"}) {
      EXPECT_TRUE(entry.contains(key)) << key;
    }
  }
  EXPECT_EQ(json["sweeps"][0]["regret_safe_points"], 0.0);
  EXPECT_EQ(json["sweeps"][0]["mfu_mae_points"], 12.5);
  EXPECT_TRUE(json["sweeps"][1]["mfu_mae_points"].is_null());
  EXPECT_EQ(json["total"]["rows"], 3);
}

TEST(ScatterSvg, DrawsDotsAndCrosses) {
  const std::string svg = ScatterSvg(ThreeRows(), {});
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("a&lt;b (2 rows)"));
  EXPECT_THAT(svg, HasSubstr("<path d="));
  EXPECT_THAT(svg, HasSubstr("measured, GiB"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
  for (const char* wrong : {"nan", "inf"}) EXPECT_THAT(svg, Not(HasSubstr(wrong)));
}

TEST(ScatterSvg, SaysThatThereIsNothingToDraw) {
  const std::string svg = ScatterSvg({}, {});
  EXPECT_THAT(svg, HasSubstr("no measured step times"));
  EXPECT_THAT(svg, HasSubstr("no measured memory peaks"));
}

}  // namespace
}  // namespace meshwright::planner
