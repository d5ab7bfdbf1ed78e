#include "planner/calibration/fit.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "ceres/ceres.h"
#include "planner/calibration/spread.h"
#include "planner/cost/step_time.h"

namespace meshwright::planner {
namespace {

constexpr double kBoundSlack = 1e-6;

// The constants under fit; a point is the logarithm of each.
class FittedConstants {
 public:
  FittedConstants(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const FitOptions& options)
      : cluster_(cluster), profile_(profile), on_row_clusters_(options.on_row_clusters) {
    for (const CalibrationConstant& constant : CalibrationConstants()) {
      if (constant.of_framework ? !options.fit_framework : !options.fit_cluster) continue;
      if (constant.share_of_cluster && options.fit_cluster) continue;
      const ConstantPrior prior = PriorOf(constant, cluster, profile, options.priors);
      if (prior.value <= 0.0) continue;
      constants_.push_back(&constant);
      prior_.push_back(std::log(std::clamp(prior.value, constant.low, constant.high)));
      prior_sigma_.push_back(prior.sigma);
    }
  }

  size_t size() const { return constants_.size(); }
  const CalibrationConstant& constant(size_t i) const { return *constants_[i]; }
  double prior(size_t i) const { return prior_[i]; }
  double prior_sigma(size_t i) const { return prior_sigma_[i]; }
  const std::vector<double>& priors() const { return prior_; }

  void Apply(const double* point, ClusterSpec& cluster, FrameworkProfile& profile) const {
    for (size_t i = 0; i < constants_.size(); ++i) {
      *constants_[i]->field(cluster, profile) = std::exp(point[i]);
    }
  }

  const ClusterSpec& cluster() const { return cluster_; }
  const FrameworkProfile& profile() const { return profile_; }
  bool on_row_clusters() const { return on_row_clusters_; }

 private:
  const ClusterSpec& cluster_;
  const FrameworkProfile& profile_;
  bool on_row_clusters_;
  std::vector<const CalibrationConstant*> constants_;
  std::vector<double> prior_;
  std::vector<double> prior_sigma_;
};

double LogError(const FitRow& row, ClusterSpec cluster, const FrameworkProfile& profile) {
  cluster.devices_per_node = row.planned.cluster.devices_per_node;
  const EstimateContext context{row.planned.model, cluster, row.planned.training, profile};
  return std::log(EstimateStepTime(context, row.layout, row.fraction_of_device).step_s() /
                  row.step_s);
}

// log(predicted / measured) of one row.
struct RowResidual {
  const FittedConstants& parameters;
  const FitRow& row;

  bool operator()(double const* const* point, double* residual) const {
    ClusterSpec cluster = parameters.cluster();
    FrameworkProfile profile = parameters.profile();
    parameters.Apply(point[0], cluster, profile);
    residual[0] =
        LogError(row, parameters.on_row_clusters() ? row.planned.cluster : cluster, profile);
    return std::isfinite(residual[0]);
  }
};

// Distance from a prior, in its standard deviations.
struct PriorResidual {
  size_t index;
  double mean;
  double sigma;

  bool operator()(double const* const* point, double* residual) const {
    residual[0] = (point[0][index] - mean) / sigma;
    return true;
  }
};

template <typename Residual>
ceres::CostFunction* MakeCost(Residual residual, size_t size) {
  auto* cost =
      new ceres::DynamicNumericDiffCostFunction<Residual, ceres::CENTRAL>(new Residual(residual));
  cost->AddParameterBlock(static_cast<int>(size));
  cost->SetNumResiduals(1);
  return cost;
}

// Rows count in units of the loss scale, priors in units of their standard deviations: the fit is
// the most probable point where errors spread by about the scale. `Loss` limits errors far beyond
// `outlier_error`.
template <typename Loss>
void AddResiduals(const FittedConstants& parameters, const std::vector<FitRow>& rows,
                  const FitOptions& options, double outlier_error, double* point,
                  ceres::Problem& problem) {
  for (const FitRow& row : rows) {
    auto* loss = new ceres::ScaledLoss(new Loss(outlier_error),
                                       1.0 / (options.loss_scale * options.loss_scale),
                                       ceres::TAKE_OWNERSHIP);
    problem.AddResidualBlock(MakeCost(RowResidual{parameters, row}, parameters.size()), loss,
                             point);
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const CalibrationConstant& constant = parameters.constant(i);
    problem.AddResidualBlock(
        MakeCost(PriorResidual{i, parameters.prior(i), parameters.prior_sigma(i)},
                 parameters.size()),
        nullptr, point);
    problem.SetParameterLowerBound(point, static_cast<int>(i), std::log(constant.low));
    problem.SetParameterUpperBound(point, static_cast<int>(i), std::log(constant.high));
  }
}

// Returns the median of |log(predicted / measured)| at a point.
double MedianError(const FittedConstants& parameters, const std::vector<FitRow>& rows,
                   const std::vector<double>& point) {
  std::vector<double> errors;
  for (const FitRow& row : rows) {
    double residual = 0.0;
    const double* block = point.data();
    RowResidual{parameters, row}(&block, &residual);
    errors.push_back(std::abs(residual));
  }
  return Quantile(errors, 0.5);
}

// Moves the problem's point to the nearest minimum of the loss.
absl::Status SolveFrom(ceres::Problem& problem) {
  ceres::Solver::Options solver;
  solver.linear_solver_type = ceres::DENSE_QR;
  solver.max_num_iterations = 200;
  solver.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(solver, &problem, &summary);
  return summary.IsSolutionUsable() ? absl::OkStatus() : absl::InternalError(summary.BriefReport());
}

// Returns the row-major covariance of the constants' logarithms; that of the priors where the
// solver finds none.
std::vector<double> Covariance(const FittedConstants& parameters, double* point,
                               ceres::Problem& problem) {
  const size_t n = parameters.size();
  std::vector<double> covariance(n * n, 0.0);
  ceres::Covariance::Options options;
  options.algorithm_type = ceres::DENSE_SVD;
  options.null_space_rank = -1;
  ceres::Covariance solver(options);
  const std::vector<std::pair<const double*, const double*>> blocks = {{point, point}};
  if (solver.Compute(blocks, &problem)) {
    solver.GetCovarianceBlock(point, point, covariance.data());
    return covariance;
  }
  for (size_t i = 0; i < n; ++i) {
    const double sigma = parameters.prior_sigma(i);
    covariance[i * n + i] = sigma * sigma;
  }
  return covariance;
}

// Returns what the constants' uncertainty adds to the variance of a prediction, averaged over the
// rows.
double ParameterVariance(const FittedConstants& parameters, const std::vector<FitRow>& rows,
                         const std::vector<double>& point, const std::vector<double>& covariance) {
  constexpr double kStep = 1e-3;
  const size_t n = parameters.size();
  double total = 0.0;
  for (const FitRow& row : rows) {
    std::vector<double> gradient(n);
    for (size_t i = 0; i < n; ++i) {
      const auto error_at = [&](double shift) {
        std::vector<double> moved = point;
        moved[i] += shift;
        double residual = 0.0;
        const double* block = moved.data();
        RowResidual{parameters, row}(&block, &residual);
        return residual;
      };
      gradient[i] = (error_at(kStep) - error_at(-kStep)) / (2.0 * kStep);
    }
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) total += gradient[i] * covariance[i * n + j] * gradient[j];
    }
  }
  return total / static_cast<double>(rows.size());
}

void Record(const FittedConstants& parameters, const std::vector<double>& point,
            const std::vector<double>& covariance, const FitOptions& options, FitResult& result) {
  const size_t n = parameters.size();
  std::vector<double> errors;
  for (const double residual : result.residuals) errors.push_back(std::abs(std::expm1(residual)));
  std::vector<Calibration*> changed;
  if (options.fit_cluster) changed.push_back(&result.cluster.calibration);
  if (options.fit_framework) changed.push_back(&result.profile.calibration);
  for (Calibration* calibration : changed) {
    const bool from_fit = options.priors == PriorSource::kFit;
    calibration->prior_rows = from_fit ? calibration->rows + calibration->prior_rows : 0;
    calibration->rows = static_cast<int64_t>(errors.size());
    calibration->median_error = Quantile(errors, 0.5);
    calibration->mean_error =
        std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
    calibration->constants.clear();
  }
  for (size_t i = 0; i < n; ++i) {
    const CalibrationConstant& constant = parameters.constant(i);
    Calibration& calibration =
        constant.of_framework ? result.profile.calibration : result.cluster.calibration;
    // The solver stops at a bound up to rounding.
    const bool at_bound = point[i] <= std::log(constant.low) + kBoundSlack ||
                          point[i] >= std::log(constant.high) - kBoundSlack;
    calibration.constants.push_back({.name = std::string(constant.name),
                                     .prior = std::exp(parameters.prior(i)),
                                     .prior_sigma = parameters.prior_sigma(i),
                                     .value = std::exp(point[i]),
                                     .sigma = std::sqrt(covariance[i * n + i]),
                                     .at_bound = at_bound});
  }
}

// Fewer peaks leave the profile's spread as it is.
constexpr size_t kFewestPeaks = 8;

void SetPeakSigma(const std::vector<FitRow>& rows, KeptActivations& kept) {
  std::vector<double> errors;
  for (const FitRow& row : rows) {
    if (row.peak_error) errors.push_back(*row.peak_error);
  }
  if (errors.size() >= kFewestPeaks) kept.peak_sigma = Scatter(errors);
}

}  // namespace

absl::StatusOr<FitResult> FitConstants(const std::vector<FitRow>& rows, const ClusterSpec& cluster,
                                       const FrameworkProfile& profile, const FitOptions& options) {
  if (rows.empty()) {
    return FieldError(
        "measurements", "0 rows",
        "must hold at least one measured step of this framework that can be modelled");
  }
  const FittedConstants parameters(cluster, profile, options);
  if (parameters.size() == 0) {
    return FieldError("fit", "nothing", "must leave at least one constant to fit");
  }
  std::vector<double> point = parameters.priors();
  // Cauchy's loss ignores outliers, and from the priors it would ignore every row of a machine that
  // is far from them. The convex loss first finds the rows, and the error that most of them share
  // is no outlier.
  ceres::Problem convex;
  AddResiduals<ceres::SoftLOneLoss>(parameters, rows, options, options.loss_scale, point.data(),
                                    convex);
  RETURN_IF_ERROR(SolveFrom(convex));
  const double outlier_error = std::max(options.loss_scale, MedianError(parameters, rows, point));
  ceres::Problem problem;
  AddResiduals<ceres::CauchyLoss>(parameters, rows, options, outlier_error, point.data(), problem);
  RETURN_IF_ERROR(SolveFrom(problem));

  FitResult result{cluster, profile, {}};
  parameters.Apply(point.data(), result.cluster, result.profile);
  for (const FitRow& row : rows) {
    result.residuals.push_back(LogError(
        row, options.on_row_clusters ? row.planned.cluster : result.cluster, result.profile));
  }
  const std::vector<double> covariance = Covariance(parameters, point.data(), problem);
  Record(parameters, point, covariance, options, result);
  std::optional<SpreadPrior> known;
  if (options.priors == PriorSource::kFit) known = SpreadPriorOf(cluster, profile);
  result.step_time_sigma =
      PredictiveSigma({.errors = result.residuals,
                       .constants = parameters.size(),
                       .constants_variance = ParameterVariance(parameters, rows, point, covariance),
                       .error_sigma = options.loss_scale},
                      known);
  if (options.fit_cluster) result.cluster.device.step_time_sigma = result.step_time_sigma;
  if (options.fit_framework) {
    result.profile.traffic.step_time_sigma = result.step_time_sigma;
    SetPeakSigma(rows, result.profile.kept);
  }
  return result;
}

}  // namespace meshwright::planner
