#include "planner/policy/residual_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "Eigen/Cholesky"
#include "Eigen/Core"
#include "planner/policy/eigen_values.h"
#include "planner/policy/residual_kernel.h"

namespace meshwright::planner {
namespace {

// Slopes are taken about the mean of the layouts, which makes them independent of the common part.
std::vector<TrialPoint> About(const TrialPoint& middle, std::vector<TrialPoint> points) {
  for (TrialPoint& point : points) Subtract(middle, point);
  return points;
}

}  // namespace

ResidualModel::ResidualModel(std::vector<TrialPoint> points, const ResidualPriors& priors,
                             const RelatedSweeps& relatives)
    : priors_(priors),
      middle_(MeanOf(points)),
      points_(About(middle_, std::move(points))),
      related_(points_, middle_, priors, relatives) {}

// The kernels between all layouts and the layouts that were measured or are running, before the
// scale factor is applied.
struct ResidualModel::Seen {
  Seen(const ResidualModel& model, absl::Span<const MeasuredResidual> measured,
       absl::Span<const size_t> running, double running_noise)
      : values(measured) {
    for (const MeasuredResidual& residual : measured) {
      layouts.push_back(residual.layout);
      noises.push_back(residual.noise);
    }
    layouts.insert(layouts.end(), running.begin(), running.end());
    noises.resize(layouts.size(), running_noise);
    for (const TrialPoint& point : model.points_) {
      own_slope.push_back(DotProduct(point, point));
      for (const size_t other : layouts) {
        slope.push_back(DotProduct(point, model.points_[other]));
        near.push_back(NearShare(model.priors_, SquaredDistance(point, model.points_[other])));
      }
    }
  }

  absl::Span<const MeasuredResidual> values;
  std::vector<size_t> layouts;  // first those that were measured, then those that run
  std::vector<double> noises;   // of `layouts`, in addition to that of the priors
  std::vector<double> own_slope;
  std::vector<double> slope;  // of the first layout with all that were seen, then of the next
  std::vector<double> near;
};

// The prior at one value of the factor. Its arguments must outlive it.
class ResidualModel::Prior {
 public:
  Prior(const ResidualModel& model, const Seen& seen, double factor, bool relatives_speak)
      : model_(model),
        seen_(seen),
        factor_(factor),
        results_(relatives_speak ? Index(model.related_.results()) : 0),
        flat_(relatives_speak ? model.related_.Explained(factor) : std::vector<double>()),
        explained_(flat_.data(), results_, Index(model.points_.size())),
        values_(model.related_.values().data(), results_) {}
  Prior(const Prior&) = delete;
  Prior& operator=(const Prior&) = delete;

  double Mean(size_t layout) const {
    return results_ > 0 ? explained_.col(Index(layout)).dot(values_) : 0.0;
  }
  double Variance(size_t layout) const {
    return Without(layout, layout, Alone(seen_.own_slope[layout], 1.0));
  }
  // Returns the covariance with the layout that was seen at index `place`.
  double Covariance(size_t layout, size_t place) const {
    const size_t at = layout * seen_.layouts.size() + place;
    return Without(layout, seen_.layouts[place], Alone(seen_.slope[at], seen_.near[at]));
  }

 private:
  double Alone(double slope, double near) const {
    return ResidualKernel(model_.priors_, factor_, slope, near);
  }
  // Returns the covariance minus the part that related results explain.
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
  const Eigen::Index known = Index(seen.values.size());
  const Eigen::Index count = Index(seen.layouts.size());
  const Prior prior(*this, seen, factor, relatives_speak);
  Eigen::MatrixXd explained(count, Index(points_.size()));
  for (size_t i = 0; i < points_.size(); ++i) {
    for (size_t j = 0; j < seen.layouts.size(); ++j) {
      explained(Index(j), Index(i)) = prior.Covariance(i, j);
    }
  }
  Eigen::MatrixXd root(count, count);
  for (size_t i = 0; i < seen.layouts.size(); ++i) {
    root.col(Index(i)) = explained.col(Index(seen.layouts[i]));
    root(Index(i), Index(i)) += Square(priors_.noise) + Square(seen.noises[i]);
  }
  if (count > 0) {
    root = Eigen::LLT<Eigen::MatrixXd>(root).matrixL();
    root.triangularView<Eigen::Lower>().solveInPlace(explained);
  }
  Eigen::VectorXd values(known);
  for (size_t i = 0; i < seen.values.size(); ++i) {
    values(Index(i)) = seen.values[i].value - prior.Mean(seen.values[i].layout);
  }
  // The measured layouts stand first, so that the root of their covariance is the top left corner
  // of the whole root.
  const auto corner = root.topLeftCorner(known, known);
  if (known > 0) corner.triangularView<Eigen::Lower>().solveInPlace(values);

  ResidualPosterior::Component at;
  at.weight = -0.5 * values.squaredNorm() - corner.diagonal().array().log().sum();
  at.residuals.resize(points_.size());
  for (size_t i = 0; i < points_.size(); ++i) {
    const auto column = explained.col(Index(i));
    const double variance = prior.Variance(i) - column.squaredNorm();
    at.residuals[i].mean = prior.Mean(i) + column.head(known).dot(values);
    at.residuals[i].sd = std::sqrt(std::max(0.0, variance));
  }
  at.root = Flat(root);
  at.explained = Flat(explained);
  return at;
}

ResidualPosterior ResidualModel::Given(absl::Span<const MeasuredResidual> measured,
                                       absl::Span<const size_t> running, double noise) const {
  const Seen seen(*this, measured, running, noise);
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
  ForEachFactor(priors_, measured.size(), add);
  NormalizeLogWeights(components);
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
  const Eigen::Index count = Index(seen_.size());
  const Eigen::Index column = Index(layout);
  const auto place = std::find(seen_.begin(), seen_.end(), layout) - seen_.begin();
  std::vector<double> covariances(residuals_.size(), 0.0);
  Eigen::Map<Eigen::VectorXd> sum(covariances.data(), Index(residuals_.size()));
  for (const Component& component : components_) {
    const Eigen::Map<const Eigen::MatrixXd> root(component.root.data(), count, count);
    const Eigen::Map<const Eigen::MatrixXd> explained(component.explained.data(), count,
                                                      sum.size());
    // The layout's prior covariances, minus the parts that the measurements explain.
    sum += component.weight *
           (explained.transpose() * (root.row(place).transpose() - explained.col(column)));
    const double mean = component.residuals[layout].mean;
    for (size_t i = 0; i < covariances.size(); ++i) {
      covariances[i] += component.weight * component.residuals[i].mean * mean;
    }
  }
  for (size_t i = 0; i < covariances.size(); ++i) {
    covariances[i] -= residuals_[i].mean * residuals_[layout].mean;
  }
  return covariances;
}

}  // namespace meshwright::planner
