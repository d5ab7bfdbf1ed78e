#include "planner/policy/residual_surface.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "Eigen/Cholesky"
#include "Eigen/Core"
#include "planner/policy/eigen_values.h"
#include "planner/policy/residual_kernel.h"

namespace meshwright::planner {
namespace {

// How far apart two runs are whose options differ: chosen, as far as a layout is from one whose
// tensor parallelism is 2 to 4 times as large.
constexpr double kOtherOptions = 1.5;

// Returns the layout's point with one more coordinate, for the options of the run.
TrialPoint PointWithOptions(const Layout& layout, bool has_other_options) {
  TrialPoint point = PointOf(layout);
  point.push_back(has_other_options ? kOtherOptions : 0.0);
  return point;
}

std::vector<TrialPoint> PointsOf(absl::Span<const LayoutResidual> measured) {
  std::vector<TrialPoint> points;
  for (const LayoutResidual& one : measured) {
    points.push_back(PointWithOptions(one.layout, one.has_other_options));
  }
  return points;
}

Eigen::Map<const Eigen::VectorXd> VectorOf(const std::vector<double>& values) {
  return {values.data(), Index(values.size())};
}

}  // namespace

ResidualSurface::ResidualSurface(absl::Span<const LayoutResidual> measured,
                                 const ResidualPriors& priors)
    : priors_(priors), points_(PointsOf(measured)) {
  middle_ = MeanOf(points_);
  for (TrialPoint& point : points_) Subtract(middle_, point);
  std::vector<double> values;
  for (const LayoutResidual& one : measured) values.push_back(one.value);
  ForEachFactor(priors, measured.size(), [&](double factor, double log_weight) {
    components_.push_back(ComponentOf(factor, log_weight, values));
  });
  NormalizeLogWeights(components_);
}

ResidualSurface::Nearnesses ResidualSurface::NearnessesOf(const TrialPoint& point) const {
  Nearnesses nearnesses;
  for (const TrialPoint& other : points_) {
    nearnesses.push_back({.slope = DotProduct(point, other),
                          .near = NearShare(priors_, SquaredDistance(point, other))});
  }
  return nearnesses;
}

double ResidualSurface::Covariance(const Nearness& nearness, double factor) const {
  return ResidualKernel(priors_, factor, nearness.slope, nearness.near);
}

ResidualSurface::Component ResidualSurface::ComponentOf(double factor, double log_weight,
                                                        absl::Span<const double> values) const {
  const Eigen::Index count = Index(points_.size());
  Eigen::MatrixXd covariance(count, count);
  for (size_t i = 0; i < points_.size(); ++i) {
    const Nearnesses nearnesses = NearnessesOf(points_[i]);
    for (size_t j = 0; j < points_.size(); ++j) {
      covariance(Index(j), Index(i)) = Covariance(nearnesses[j], factor);
    }
  }
  covariance.diagonal().array() += Square(priors_.noise);
  const Eigen::LLT<Eigen::MatrixXd> root(covariance);
  const Eigen::Map<const Eigen::VectorXd> residuals(values.data(), count);
  const Eigen::VectorXd solved = root.solve(residuals);
  const Eigen::MatrixXd lower = root.matrixL();
  Component component;
  component.factor = factor;
  component.weight =
      log_weight - 0.5 * residuals.dot(solved) - lower.diagonal().array().log().sum();
  component.root = Flat(lower);
  component.solved = Flat(solved);
  return component;
}

double ResidualSurface::MeanAt(const Layout& layout) const {
  TrialPoint point = PointWithOptions(layout, /*has_other_options=*/false);
  Subtract(middle_, point);
  const Nearnesses nearnesses = NearnessesOf(point);
  double mean = 0.0;
  for (const Component& component : components_) {
    double at = 0.0;
    for (size_t i = 0; i < nearnesses.size(); ++i) {
      at += Covariance(nearnesses[i], component.factor) * component.solved[i];
    }
    mean += component.weight * at;
  }
  return mean;
}

Residual ResidualSurface::At(const Layout& layout) const {
  TrialPoint point = PointWithOptions(layout, /*has_other_options=*/false);
  Subtract(middle_, point);
  const Nearnesses nearnesses = NearnessesOf(point);
  const Eigen::Index count = Index(points_.size());
  const double own_slope = DotProduct(point, point);
  double mean = 0.0;
  double square = 0.0;
  for (const Component& component : components_) {
    Eigen::VectorXd covariances(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      covariances(i) = Covariance(nearnesses[static_cast<size_t>(i)], component.factor);
    }
    const Eigen::Map<const Eigen::MatrixXd> root(component.root.data(), count, count);
    const double at = covariances.dot(VectorOf(component.solved));
    const double explained = root.triangularView<Eigen::Lower>().solve(covariances).squaredNorm();
    const double variance = ResidualKernel(priors_, component.factor, own_slope, 1.0) - explained;
    mean += component.weight * at;
    square += component.weight * (Square(at) + std::max(0.0, variance));
  }
  return {mean, std::sqrt(std::max(0.0, square - Square(mean)))};
}

}  // namespace meshwright::planner
