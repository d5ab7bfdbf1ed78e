// What Fernandez et al. (arXiv 2411.13055) measured when they scaled Llama 2 7B, two sequences of
// 4,096 a device, beside what the planner says of the same runs. Nothing was fitted to the paper.
#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "planner/layout/layout_condition.h"
#include "planner/scaling/scale_curve.h"
#include "tests/planner/test_specs.h"
#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

using planner::ScalePoint;

constexpr char kPureFsdp[] = "tp = 1 and cp = 1 and pp = 1 and zero = 3 and hs = 0 and mb = 2";
constexpr char kFsdpWithTpOrPp[] = "cp = 1 and zero = 3 and hs = 0";

std::vector<ScalePoint> Curve(const char* cluster, const char* where) {
  const planner::TestContext test =
      planner::MakeContext("llama-2-7b", cluster, 4096, 16, "torchtitan-fsdp");
  planner::SearchRequest request = planner::MakeRequest(test, 8);
  request.top = 1;
  request.where = planner::ParseLayoutCondition("--where", where).value();
  return planner::ScaleCurve(request, {8, 16, 32, 64, 128, 256, 512, 1024, 2048},
                             planner::ScalingMode::kWeak)
      .value();
}

const ScalePoint& At(const std::vector<ScalePoint>& points, int64_t devices) {
  for (const ScalePoint& point : points) {
    if (point.devices == devices) return point;
  }
  ADD_FAILURE() << "no point of " << devices << " devices";
  return points.front();
}

double TokensPerSAndDevice(const ScalePoint& point) {
  return point.best->estimate.tokens_per_s_per_gpu;
}

class FernandezReport : public testing::Test {
 protected:
  double Drop() const {
    return TokensPerSAndDevice(At(fsdp_, 2048)) / TokensPerSAndDevice(At(fsdp_, 128)) - 1.0;
  }
  double PowerDrop() const {
    return At(fsdp_, 2048).energy.device_w / At(fsdp_, 128).energy.device_w - 1.0;
  }
  double EnergyRatio() const {
    return At(fsdp_, 2048).energy.tokens_per_joule / At(fsdp_, 128).energy.tokens_per_joule;
  }
  // The fewest devices from which on the fastest layout divides layers or matrices; 0 for none.
  int64_t Crossover() const {
    int64_t crossover = 0;
    for (const ScalePoint& point : any_) {
      const planner::Layout& layout = point.best->layout;
      if (layout.tp * layout.pp == 1) crossover = 0;
      if (layout.tp * layout.pp > 1 && crossover == 0) crossover = point.devices;
    }
    return crossover;
  }
  std::string Text() const;

  const std::vector<ScalePoint> fsdp_ = Curve("h100", kPureFsdp);
  const std::vector<ScalePoint> any_ = Curve("h100", kFsdpWithTpOrPp);
  const std::vector<ScalePoint> a100_ = Curve("a100-80", kPureFsdp);
};

std::string FernandezReport::Text() const {
  std::string text =
      "Llama 2 7B, sequence 4,096, two sequences a device, framework torchtitan-fsdp\n"
      "finding of arXiv 2411.13055                           paper       here\n";
  const auto add = [&text](const char* finding, const std::string& paper, const std::string& here) {
    absl::StrAppendFormat(&text, "%-48s %10s %10s\n", finding, paper, here);
  };
  const auto percent = [](double share) { return absl::StrFormat("%.2f %%", 100.0 * share); };
  add("FSDP, H100, 128 -> 2,048: tokens/s and device", "-37.22 %", percent(Drop()));
  add("FSDP, H100, 128 -> 2,048: power of a device", "-5.87 %", percent(PowerDrop()));
  add("FSDP, H100, 128 -> 2,048: tokens a joule", "x0.667",
      absl::StrFormat("x%.3f", EnergyRatio()));
  add("FSDP, 128 devices: MFU on A100", "59.67 %", percent(At(a100_, 128).best->estimate.mfu));
  add("FSDP, 128 devices: MFU on H100", "40.77 %", percent(At(fsdp_, 128).best->estimate.mfu));
  add("H100: tp or pp beats pure FSDP from", "at scale", absl::StrFormat("%d", Crossover()));
  text +=
      "\nH100    pure FSDP                                     with tp and pp\n"
      "devices tokens/s/GPU  exposed    W/GPU  tokens/J return  tokens/s/GPU  kind\n";
  for (size_t i = 0; i < fsdp_.size(); ++i) {
    const ScalePoint& pure = fsdp_[i];
    const planner::Layout& best = any_[i].best->layout;
    absl::StrAppendFormat(
        &text, "%7d %12.0f %8s %8.1f %9.2f %7s %12.0f  %s, tp %d, pp %d\n", pure.devices,
        TokensPerSAndDevice(pure), percent(pure.exposed), pure.energy.device_w,
        pure.energy.tokens_per_joule,
        pure.marginal_return ? absl::StrFormat("%.1f %%", 100.0 * *pure.marginal_return) : "-",
        TokensPerSAndDevice(any_[i]), planner::LayoutKindOf(best), best.tp, best.pp);
  }
  return text;
}

TEST_F(FernandezReport, HoldsThePapersFindings) {
  EXPECT_NEAR(Drop(), -0.3722, 0.08);
  EXPECT_NEAR(PowerDrop(), -0.0587, 0.02);
  EXPECT_NEAR(EnergyRatio(), 0.667, 0.08);
  EXPECT_NEAR(At(a100_, 128).best->estimate.mfu, 0.5967, 0.06);
  EXPECT_NEAR(At(fsdp_, 128).best->estimate.mfu, 0.4077, 0.06);
  EXPECT_GT(Crossover(), 128);
  const planner::Layout& largest = any_.back().best->layout;
  EXPECT_LE(largest.tp, 4);
  EXPECT_LE(largest.pp, 4);
  for (size_t i = 2; i < fsdp_.size(); ++i) {
    EXPECT_LT(*fsdp_[i].marginal_return, *fsdp_[i - 1].marginal_return + 0.01)
        << fsdp_[i].devices << " devices return more than the doubling before";
  }
  EXPECT_LT(*fsdp_.back().marginal_return, 0.75);
}

TEST_F(FernandezReport, MatchesTheGoldenFile) { ExpectGolden("fernandez_2411_13055.txt", Text()); }

}  // namespace
}  // namespace meshwright::cli
