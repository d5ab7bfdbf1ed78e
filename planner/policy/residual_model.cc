#include "planner/policy/residual_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
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

// What layouts share with those that were seen, but for the factor.
struct ResidualModel::Seen {
  Seen(const ResidualModel& model, absl::Span<const MeasuredResidual> measured,
       absl::Span<const size_t> running)
      : values(measured) {
    for (const MeasuredResidual& residual : measured) layouts.push_back(residual.layout);
    layouts.insert(layouts.end(), running.begin(), running.end());
    for (const TrialPoint& point : model.points_) {
      own_slope.push_back(DotProduct(point, point));
      for (const size_t other : layouts) {
        const double distance =
            SquaredDistance(point, model.points_[other]) / Square(model.priors_.reach);
        slope.push_back(DotProduct(point, model.points_[other]));
        near.push_back(std::exp(-0.5 * distance));
      }
    }
  }

  absl::Span<const MeasuredResidual> values;
  std::vector<size_t> layouts;  // those that were measured, then those that run
  std::vector<double> own_slope;
  std::vector<double> slope;  // of the first layout with all that were seen, then of the next
  std::vector<double> near;
};

// At one value of the factor. What it is made from must outlive it.
class ResidualModel::Prior {
 public:
  Prior(const ResidualModel& model, const Seen& seen, double factor, bool relatives_speak)
      : model_(model),
        seen_(seen),
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
  double Variance(size_t layout) const {
    return Without(layout, layout, Alone(seen_.own_slope[layout], 1.0));
  }
  // With the one that was seen at that place.
  double Covariance(size_t layout, size_t place) const {
    const size_t at = layout * seen_.layouts.size() + place;
    return Without(layout, seen_.layouts[place], Alone(seen_.slope[at], seen_.near[at]));
  }

 private:
  static Eigen::Index Index(size_t layout) { return static_cast<Eigen::Index>(layout); }
  double Alone(double slope, double near) const {
    const ResidualPriors& priors = model_.priors_;
    return Square(priors.common) + Square(factor_ * priors.axis) * slope +
           Square(factor_ * priors.near) * near;
  }
  // What relatives explain.
  double Without(size_t a, size_t b, double covariance) const {
    if (results_ == 0) return covariance;
    return covariance - explained_.col(Index(a)).dot(explained_.col(Index(b)));
  }

  const ResidualModel& model_;
  const Seen& seen_;
  const double factor_;
  const Eigen::Index results_;
  const std::vector<double> flat_;
  const Eigen::Map<const Eigen::MatrixXd> explained_;
  const Eigen::Map<const Eigen::VectorXd> values_;
};

ResidualPosterior::Component ResidualModel::At(double factor, bool relatives_speak,
                                               const Seen& seen) const {
  const auto known = static_cast<Eigen::Index>(seen.values.size());
  const auto count = static_cast<Eigen::Index>(seen.layouts.size());
  const auto layouts = static_cast<Eigen::Index>(points_.size());
  const Prior prior(*this, seen, factor, relatives_speak);
  ResidualPosterior::Component at;
  at.before.resize(points_.size() * seen.layouts.size());
  Eigen::Map<Eigen::MatrixXd> before(at.before.data(), count, layouts);
  for (Eigen::Index i = 0; i < layouts; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      before(j, i) = prior.Covariance(static_cast<size_t>(i), static_cast<size_t>(j));
    }
  }
  Eigen::MatrixXd covariance(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    covariance.col(i) = before.col(static_cast<Eigen::Index>(seen.layouts[static_cast<size_t>(i)]));
    covariance(i, i) += Square(priors_.noise);
    if (i < known) covariance(i, i) += Square(seen.values[static_cast<size_t>(i)].noise);
  }
  Eigen::VectorXd values(known);
  for (Eigen::Index i = 0; i < known; ++i) {
    values(i) = seen.values[i].value - prior.Mean(seen.values[i].layout);
  }
  Eigen::VectorXd weights(known);
  if (known > 0) {
    const Eigen::LLT<Eigen::MatrixXd> root(covariance.topLeftCorner(known, known));
    weights = root.solve(values);
    at.weight = -0.5 * values.dot(weights) - root.matrixLLT().diagonal().array().log().sum();
  }

  at.explained = at.before;
  Eigen::Map<Eigen::MatrixXd> explained(at.explained.data(), count, layouts);
  if (count > 0) Eigen::LLT<Eigen::MatrixXd>(covariance).matrixL().solveInPlace(explained);
  at.residuals.resize(points_.size());
  for (size_t layout = 0; layout < points_.size(); ++layout) {
    const auto column = static_cast<Eigen::Index>(layout);
    const double variance = prior.Variance(layout) - explained.col(column).squaredNorm();
    at.residuals[layout].mean = prior.Mean(layout) + before.col(column).head(known).dot(weights);
    at.residuals[layout].sd = std::sqrt(std::max(0.0, variance));
  }
  return at;
}

ResidualPosterior ResidualModel::Given(absl::Span<const MeasuredResidual> measured,
                                       absl::Span<const size_t> running) const {
  const Seen seen(*this, measured, running);
  std::vector<ResidualPosterior::Component> components;
  const auto add = [&](double factor, double log_weight) {
    if (related_.results() == 0) {
      components.push_back(At(factor, false, seen));
      components.back().weight += log_weight;
      return;
    }
    for (const bool speak : {true, false}) {
      components.push_back(At(factor, speak, seen));
      components.back().weight +=
          log_weight + std::log(speak ? priors_.trust : 1.0 - priors_.trust);
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
  double largest = components.front().weight;
  for (const auto& component : components) largest = std::max(largest, component.weight);
  double total = 0.0;
  for (auto& component : components) {
    total += component.weight = std::exp(component.weight - largest);
  }
  for (auto& component : components) component.weight /= total;
  return {std::move(components), seen.layouts};
}

ResidualPosterior::ResidualPosterior(std::vector<Component> components, std::vector<size_t> seen)
    : components_(std::move(components)), seen_(std::move(seen)) {
  residuals_.resize(components_.front().residuals.size());
  for (size_t layout = 0; layout < residuals_.size(); ++layout) {
    double mean = 0.0;
    double square = 0.0;
    for (const Component& component : components_) {
      const Residual& one = component.residuals[layout];
      mean += component.weight * one.mean;
      square += component.weight * (Square(one.mean) + Square(one.sd));
    }
    residuals_[layout] = {mean, std::sqrt(std::max(0.0, square - Square(mean)))};
  }
}

std::vector<double> ResidualPosterior::CovariancesWith(size_t layout) const {
  const size_t count = seen_.size();
  const auto row =
      static_cast<size_t>(std::find(seen_.begin(), seen_.end(), layout) - seen_.begin());
  std::vector<double> covariances(residuals_.size(), 0.0);
  for (size_t other = 0; other < residuals_.size(); ++other) {
    for (const Component& component : components_) {
      const double* const explained = component.explained.data();
      const double common =
          std::inner_product(explained + other * count, explained + (other + 1) * count,
                             explained + layout * count, 0.0);
      covariances[other] +=
          component.weight * (component.before[other * count + row] - common +
                              component.residuals[other].mean * component.residuals[layout].mean);
    }
    covariances[other] -= residuals_[other].mean * residuals_[layout].mean;
  }
  return covariances;
}

}  // namespace meshwright::planner
