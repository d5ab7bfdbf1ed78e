#include "planner/policy/residual_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "Eigen/Cholesky"
#include "Eigen/Core"

namespace meshwright::planner {
namespace {

// Slopes are about the middle of the layouts, so that they say nothing about what all have in
// common.
std::vector<TrialPoint> AboutTheirMean(std::vector<TrialPoint> points) {
  if (points.empty()) return points;
  TrialPoint mean(points.front().size(), 0.0);
  for (const TrialPoint& point : points) {
    for (size_t i = 0; i < mean.size(); ++i) {
      mean[i] += point[i] / static_cast<double>(points.size());
    }
  }
  for (TrialPoint& point : points) {
    for (size_t i = 0; i < mean.size(); ++i) point[i] -= mean[i];
  }
  return points;
}

double Dot(const TrialPoint& a, const TrialPoint& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double Square(double value) { return value * value; }

// Of the factor's logarithm, in deviations.
constexpr double kFactorSteps[] = {-2.0, -1.0, 0.0, 1.0, 2.0};

}  // namespace

ResidualModel::ResidualModel(std::vector<TrialPoint> points, const ResidualPriors& priors)
    : priors_(priors), points_(AboutTheirMean(std::move(points))) {}

double ResidualModel::Covariance(size_t a, size_t b, double factor) const {
  const double distance = SquaredDistance(points_[a], points_[b]) / Square(priors_.reach);
  return Square(priors_.common) + Square(factor * priors_.axis) * Dot(points_[a], points_[b]) +
         Square(factor * priors_.near) * std::exp(-0.5 * distance);
}

ResidualModel::Conditional ResidualModel::At(double factor,
                                             absl::Span<const MeasuredResidual> measured,
                                             absl::Span<const size_t> running) const {
  std::vector<size_t> seen;
  for (const MeasuredResidual& residual : measured) seen.push_back(residual.layout);
  const auto known = static_cast<Eigen::Index>(seen.size());
  seen.insert(seen.end(), running.begin(), running.end());
  const auto count = static_cast<Eigen::Index>(seen.size());

  Eigen::MatrixXd covariance(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      covariance(i, j) = Covariance(seen[i], seen[j], factor);
    }
    covariance(i, i) += Square(priors_.noise);
  }
  Eigen::VectorXd values(known);
  for (Eigen::Index i = 0; i < known; ++i) values(i) = measured[i].value;
  Eigen::LLT<Eigen::MatrixXd> all(count);
  if (count > 0) all.compute(covariance);
  Eigen::VectorXd weights(known);
  Conditional conditional;
  if (known > 0) {
    const Eigen::LLT<Eigen::MatrixXd> root(covariance.topLeftCorner(known, known));
    weights = root.solve(values);
    conditional.log_evidence =
        -0.5 * values.dot(weights) - root.matrixLLT().diagonal().array().log().sum();
  }

  conditional.residuals.resize(points_.size());
  Eigen::VectorXd shared(count);
  for (size_t layout = 0; layout < points_.size(); ++layout) {
    for (Eigen::Index i = 0; i < count; ++i) shared(i) = Covariance(layout, seen[i], factor);
    Residual& residual = conditional.residuals[layout];
    residual.mean = known > 0 ? shared.head(known).dot(weights) : 0.0;
    const double explained = count > 0 ? all.matrixL().solve(shared).squaredNorm() : 0.0;
    residual.sd = std::sqrt(std::max(0.0, Covariance(layout, layout, factor) - explained));
  }
  return conditional;
}

std::vector<Residual> ResidualModel::Given(absl::Span<const MeasuredResidual> measured,
                                           absl::Span<const size_t> running) const {
  // One result says nothing of how layouts differ.
  if (measured.size() < 2 || priors_.factor <= 0.0) return At(1.0, measured, running).residuals;
  std::vector<Conditional> conditionals;
  std::vector<double> weights;
  for (const double step : kFactorSteps) {
    conditionals.push_back(At(std::exp(step * priors_.factor), measured, running));
    weights.push_back(conditionals.back().log_evidence - 0.5 * Square(step));
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double total = 0.0;
  for (double& weight : weights) total += weight = std::exp(weight - largest);

  std::vector<Residual> residuals(points_.size());
  for (size_t layout = 0; layout < residuals.size(); ++layout) {
    double mean = 0.0;
    double square = 0.0;
    for (size_t i = 0; i < weights.size(); ++i) {
      const Residual& one = conditionals[i].residuals[layout];
      mean += weights[i] / total * one.mean;
      square += weights[i] / total * (Square(one.mean) + Square(one.sd));
    }
    residuals[layout] = {mean, std::sqrt(std::max(0.0, square - Square(mean)))};
  }
  return residuals;
}

}  // namespace meshwright::planner
