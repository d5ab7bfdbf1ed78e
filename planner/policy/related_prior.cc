#include "planner/policy/related_prior.h"

#include <cmath>
#include <utility>

#include "Eigen/Cholesky"
#include "Eigen/Core"

namespace meshwright::planner {
namespace {

double Square(double value) { return value * value; }

// A result as the model sees it.
struct Seen {
  size_t sweep = 0;
  TrialPoint point;  // less the middle
  double value = 0.0;
};

std::vector<Seen> SeenOf(const Relatives& relatives, const TrialPoint& middle) {
  std::vector<Seen> seen;
  for (size_t sweep = 0; sweep < relatives.sweeps.size(); ++sweep) {
    for (const RelatedResult& result : relatives.sweeps[sweep].results) {
      TrialPoint point = result.point;
      for (size_t i = 0; i < point.size(); ++i) point[i] -= middle[i];
      seen.push_back({.sweep = sweep, .point = std::move(point), .value = result.residual});
    }
  }
  return seen;
}

double CommonPart(double relation, const ResidualPriors& priors) {
  return relation * Square(priors.common);
}

double ApartPart(const TrialPoint& a, const TrialPoint& b, double relation,
                 const ResidualPriors& priors) {
  const double distance = SquaredDistance(a, b) / Square(priors.reach);
  return relation * Square(priors.axis) * DotProduct(a, b) +
         Square(relation * priors.near) * std::exp(-0.5 * distance);
}

Eigen::MatrixXd RelationsAmong(const Relatives& relatives) {
  const auto count = static_cast<Eigen::Index>(relatives.sweeps.size());
  Eigen::MatrixXd relations = Eigen::MatrixXd::Ones(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      relations(i, j) = std::exp(-SweepDistance(relatives.sweeps[static_cast<size_t>(i)].traits,
                                                relatives.sweeps[static_cast<size_t>(j)].traits));
      relations(j, i) = relations(i, j);
    }
  }
  return relations;
}

std::vector<double> Flat(const Eigen::MatrixXd& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

}  // namespace

RelatedPrior::RelatedPrior(absl::Span<const TrialPoint> points, const TrialPoint& middle,
                           const ResidualPriors& priors, const Relatives& relatives) {
  const std::vector<Seen> seen = SeenOf(relatives, middle);
  const auto count = static_cast<Eigen::Index>(seen.size());
  if (count == 0) return;
  const Eigen::MatrixXd relations = RelationsAmong(relatives);
  Eigen::MatrixXd covariance(count, count);
  Eigen::VectorXd values(count);
  Eigen::MatrixXd common(count, static_cast<Eigen::Index>(points.size()));
  Eigen::MatrixXd apart(count, static_cast<Eigen::Index>(points.size()));
  for (Eigen::Index i = 0; i < count; ++i) {
    const Seen& one = seen[static_cast<size_t>(i)];
    values(i) = one.value;
    for (Eigen::Index j = 0; j < count; ++j) {
      const Seen& other = seen[static_cast<size_t>(j)];
      const double relation =
          relations(static_cast<Eigen::Index>(one.sweep), static_cast<Eigen::Index>(other.sweep));
      covariance(i, j) =
          CommonPart(relation, priors) + ApartPart(one.point, other.point, relation, priors);
    }
    covariance(i, i) += Square(priors.noise);
    const double relation =
        std::exp(-SweepDistance(relatives.own, relatives.sweeps[one.sweep].traits));
    for (Eigen::Index layout = 0; layout < common.cols(); ++layout) {
      common(i, layout) = CommonPart(relation, priors);
      apart(i, layout) =
          ApartPart(points[static_cast<size_t>(layout)], one.point, relation, priors);
    }
  }
  const Eigen::LLT<Eigen::MatrixXd> root(covariance);
  root.matrixL().solveInPlace(values);
  root.matrixL().solveInPlace(common);
  root.matrixL().solveInPlace(apart);
  values_ = {values.data(), values.data() + values.size()};
  common_ = Flat(common);
  apart_ = Flat(apart);
}

std::vector<double> RelatedPrior::Explained(double factor) const {
  std::vector<double> explained = common_;
  for (size_t i = 0; i < explained.size(); ++i) explained[i] += factor * apart_[i];
  return explained;
}

}  // namespace meshwright::planner
