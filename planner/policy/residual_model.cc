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
TrialPoint MiddleOf(const std::vector<TrialPoint>& points) {
  if (points.empty()) return {};
  TrialPoint mean(points.front().size(), 0.0);
  for (const TrialPoint& point : points) {
    for (size_t i = 0; i < mean.size(); ++i) {
      mean[i] += point[i] / static_cast<double>(points.size());
    }
  }
  return mean;
}

std::vector<TrialPoint> About(const TrialPoint& middle, std::vector<TrialPoint> points) {
  for (TrialPoint& point : points) {
    for (size_t i = 0; i < middle.size(); ++i) point[i] -= middle[i];
  }
  return points;
}

double Square(double value) { return value * value; }

// Of the factor's logarithm, in deviations.
constexpr double kFactorSteps[] = {-2.0, -1.0, 0.0, 1.0, 2.0};

}  // namespace

ResidualModel::ResidualModel(std::vector<TrialPoint> points, const ResidualPriors& priors,
                             const Relatives& relatives)
    : priors_(priors),
      middle_(MiddleOf(points)),
      points_(About(middle_, std::move(points))),
      related_(points_, middle_, priors, relatives) {}

double ResidualModel::Covariance(size_t a, size_t b, double factor) const {
  const double distance = SquaredDistance(points_[a], points_[b]) / Square(priors_.reach);
  return Square(priors_.common) +
         Square(factor * priors_.axis) * DotProduct(points_[a], points_[b]) +
         Square(factor * priors_.near) * std::exp(-0.5 * distance);
}

// At one value of the factor. `model` must outlive it.
class ResidualModel::Prior {
 public:
  Prior(const ResidualModel& model, double factor, bool relatives_speak)
      : model_(model),
        factor_(factor),
        results_(relatives_speak ? static_cast<Eigen::Index>(model.related_.results()) : 0),
        flat_(relatives_speak ? model.related_.Explained(factor) : std::vector<double>()),
        explained_(flat_.data(), results_, static_cast<Eigen::Index>(model.points_.size())),
        values_(model.related_.values().data(), results_) {}
  Prior(const Prior&) = delete;
  Prior& operator=(const Prior&) = delete;

  double Mean(size_t layout) const {
    return results_ > 0 ? explained_.col(Index(layout)).dot(values_) : 0.0;
  }
  double Covariance(size_t a, size_t b) const {
    const double alone = model_.Covariance(a, b, factor_);
    if (results_ == 0) return alone;
    return alone - explained_.col(Index(a)).dot(explained_.col(Index(b)));
  }

 private:
  static Eigen::Index Index(size_t layout) { return static_cast<Eigen::Index>(layout); }

  const ResidualModel& model_;
  const double factor_;
  const Eigen::Index results_;
  const std::vector<double> flat_;
  const Eigen::Map<const Eigen::MatrixXd> explained_;
  const Eigen::Map<const Eigen::VectorXd> values_;
};

ResidualModel::Conditional ResidualModel::At(double factor, bool relatives_speak,
                                             absl::Span<const MeasuredResidual> measured,
                                             absl::Span<const size_t> running) const {
  std::vector<size_t> seen;
  for (const MeasuredResidual& residual : measured) seen.push_back(residual.layout);
  const auto known = static_cast<Eigen::Index>(seen.size());
  seen.insert(seen.end(), running.begin(), running.end());
  const auto count = static_cast<Eigen::Index>(seen.size());

  const Prior prior(*this, factor, relatives_speak);
  Eigen::MatrixXd covariance(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      covariance(i, j) = prior.Covariance(seen[i], seen[j]);
    }
    covariance(i, i) += Square(priors_.noise);
  }
  Eigen::VectorXd values(known);
  for (Eigen::Index i = 0; i < known; ++i) {
    values(i) = measured[i].value - prior.Mean(measured[i].layout);
  }
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
    for (Eigen::Index i = 0; i < count; ++i) shared(i) = prior.Covariance(layout, seen[i]);
    Residual& residual = conditional.residuals[layout];
    residual.mean = prior.Mean(layout) + (known > 0 ? shared.head(known).dot(weights) : 0.0);
    const double explained = count > 0 ? all.matrixL().solve(shared).squaredNorm() : 0.0;
    residual.sd = std::sqrt(std::max(0.0, prior.Covariance(layout, layout) - explained));
  }
  return conditional;
}

std::vector<Residual> ResidualModel::Given(absl::Span<const MeasuredResidual> measured,
                                           absl::Span<const size_t> running) const {
  std::vector<Conditional> conditionals;
  std::vector<double> weights;
  const auto add = [&](double factor, double log_weight) {
    if (related_.results() == 0) {
      conditionals.push_back(At(factor, false, measured, running));
      weights.push_back(conditionals.back().log_evidence + log_weight);
      return;
    }
    for (const bool speak : {true, false}) {
      conditionals.push_back(At(factor, speak, measured, running));
      weights.push_back(conditionals.back().log_evidence + log_weight +
                        std::log(speak ? priors_.trust : 1.0 - priors_.trust));
    }
  };
  // One result says nothing of how layouts differ.
  if (measured.size() < 2 || priors_.factor <= 0.0) {
    add(1.0, 0.0);
  } else {
    for (const double step : kFactorSteps) {
      add(std::exp(step * priors_.factor), -0.5 * Square(step));
    }
  }
  return conditionals.size() == 1 ? std::move(conditionals.front().residuals)
                                  : Mean(conditionals, std::move(weights));
}

std::vector<Residual> ResidualModel::Mean(const std::vector<Conditional>& conditionals,
                                          std::vector<double> weights) {
  const double largest = *std::max_element(weights.begin(), weights.end());
  double total = 0.0;
  for (double& weight : weights) total += weight = std::exp(weight - largest);

  std::vector<Residual> residuals(conditionals.front().residuals.size());
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
