#include "planner/policy/residual_surface.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace meshwright::planner {
namespace {

Layout LayoutOf(const char* text) { return ParseLayout(text).value(); }

TEST(ResidualSurface, OneMeasurementShiftsFarLayoutsByWhatIsCommon) {
  const ResidualPriors priors = {.common = 0.3, .axis = 0.0, .near = 0.1, .noise = 0.05};
  const ResidualSurface surface(std::array{LayoutResidual{LayoutOf("tp1.pp1.dp8"), 0.2}}, priors);
  const double total = 0.09 + 0.01 + 0.0025;
  EXPECT_NEAR(surface.At(LayoutOf("tp1.pp1.dp8")).mean, 0.2 * 0.1 / total, 1e-12);
  EXPECT_NEAR(surface.At(LayoutOf("tp1.pp1.dp8")).sd, std::sqrt(0.1 - 0.01 / total), 1e-12);
  const Residual far = surface.At(LayoutOf("tp8.pp64.dp1.mb1.rc=full"));
  EXPECT_NEAR(far.mean, 0.2 * 0.09 / total, 1e-6);
  EXPECT_GT(far.sd, surface.At(LayoutOf("tp1.pp1.dp8")).sd);
}

TEST(ResidualSurface, ASlopeOfOneMeasurementMovesNoMeanAndWidensFarLayouts) {
  const ResidualPriors flat = {.common = 0.3, .axis = 0.0, .near = 0.0};
  const ResidualPriors steep = {.common = 0.3, .axis = 0.1, .near = 0.0};
  const std::array runs = {LayoutResidual{LayoutOf("tp1.pp1.dp8"), 0.2}};
  const Layout far = LayoutOf("tp8.pp1.dp1");
  EXPECT_NEAR(ResidualSurface(runs, steep).At(far).mean, ResidualSurface(runs, flat).At(far).mean,
              1e-12);
  EXPECT_GT(ResidualSurface(runs, steep).At(far).sd, ResidualSurface(runs, flat).At(far).sd);
}

TEST(ResidualSurface, ARunWithOtherOptionsSharesLessOfWhatIsNear) {
  const ResidualPriors priors = {.common = 0.1, .axis = 0.0, .near = 0.2, .noise = 0.02};
  const Layout layout = LayoutOf("tp1.pp1.dp8");
  const ResidualSurface same(std::array{LayoutResidual{layout, 0.2}}, priors);
  const ResidualSurface other(
      std::array{LayoutResidual{.layout = layout, .value = 0.2, .has_other_options = true}},
      priors);
  EXPECT_LT(other.MeanAt(layout), 0.6 * same.MeanAt(layout));
  EXPECT_GT(other.MeanAt(layout), 0.2 * same.MeanAt(layout));
  EXPECT_GT(other.At(layout).sd, same.At(layout).sd);
}

// Where slopes play no part, it is the residual model of the same layouts.
TEST(ResidualSurface, IsTheResidualModelWithoutSlopes) {
  const ResidualPriors priors = {.common = 0.2, .axis = 0.0, .near = 0.1, .noise = 0.03};
  const std::vector<Layout> layouts = {LayoutOf("tp1.pp1.dp8"), LayoutOf("tp2.pp1.dp4"),
                                       LayoutOf("tp2.pp2.dp2"), LayoutOf("tp4.pp1.dp2.rc=full")};
  std::vector<TrialPoint> points;
  for (const Layout& layout : layouts) points.push_back(PointOf(layout));
  const ResidualPosterior model =
      ResidualModel(points, priors)
          .Given(std::array{MeasuredResidual{.layout = 0, .value = 0.3},
                            MeasuredResidual{.layout = 2, .value = -0.1}},
                 {});
  const ResidualSurface surface(
      std::array{LayoutResidual{layouts[0], 0.3}, LayoutResidual{layouts[2], -0.1}}, priors);
  for (size_t i = 0; i < layouts.size(); ++i) {
    EXPECT_NEAR(surface.At(layouts[i]).mean, model.residuals()[i].mean, 1e-9);
    EXPECT_NEAR(surface.At(layouts[i]).sd, model.residuals()[i].sd, 1e-9);
    EXPECT_DOUBLE_EQ(surface.MeanAt(layouts[i]), surface.At(layouts[i]).mean);
  }
}

}  // namespace
}  // namespace meshwright::planner
