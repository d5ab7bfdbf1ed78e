#include "planner/calibration/log_fit.h"

#include <algorithm>
#include <cmath>

#include "ceres/ceres.h"

namespace meshwright::planner {
namespace {

// Errors of the logarithm beyond this count linearly.
constexpr double kLossScale = 0.2;

struct RowError {
  const LogFitRow& row;
  size_t constants;

  bool operator()(double const* const* point, double* residual) const {
    std::vector<double> values(constants);
    for (size_t i = 0; i < constants; ++i) values[i] = std::exp(point[0][i]);
    residual[0] = std::log(row.predicted_s(values) / row.measured_s);
    return std::isfinite(residual[0]);
  }
};

}  // namespace

absl::StatusOr<std::vector<double>> FitLogTimes(const std::vector<LogFitRow>& rows,
                                                const std::vector<LogFitConstant>& constants) {
  if (rows.empty()) return absl::InvalidArgumentError("there is no measured time to fit to");
  const size_t size = constants.size();
  std::vector<double> point(size);
  for (size_t i = 0; i < size; ++i) {
    point[i] = std::log(std::clamp(constants[i].start, constants[i].low, constants[i].high));
  }
  ceres::Problem problem;
  for (const LogFitRow& row : rows) {
    auto* cost = new ceres::DynamicNumericDiffCostFunction<RowError, ceres::CENTRAL>(
        new RowError{row, size});
    cost->AddParameterBlock(static_cast<int>(size));
    cost->SetNumResiduals(1);
    problem.AddResidualBlock(cost, new ceres::SoftLOneLoss(kLossScale), point.data());
  }
  for (size_t i = 0; i < size; ++i) {
    problem.SetParameterLowerBound(point.data(), static_cast<int>(i), std::log(constants[i].low));
    problem.SetParameterUpperBound(point.data(), static_cast<int>(i), std::log(constants[i].high));
  }
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.max_num_iterations = 200;
  options.function_tolerance = 1e-12;
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  if (!summary.IsSolutionUsable()) return absl::InternalError(summary.BriefReport());
  for (double& value : point) value = std::exp(value);
  return point;
}

LogFitErrors ErrorsOf(const std::vector<LogFitRow>& rows, const std::vector<double>& constants) {
  if (rows.empty()) return {};
  std::vector<double> errors;
  errors.reserve(rows.size());
  for (const LogFitRow& row : rows) {
    errors.push_back(std::abs(row.predicted_s(constants) / row.measured_s - 1.0));
  }
  const auto middle = errors.begin() + static_cast<ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  const double median = *middle;
  return {.rows = static_cast<int64_t>(errors.size()),
          .median = median,
          .worst = *std::max_element(errors.begin(), errors.end())};
}

}  // namespace meshwright::planner
