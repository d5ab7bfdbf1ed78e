#include "planner/policy/related_prior.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "Eigen/Cholesky"
#include "Eigen/Core"
#include "planner/policy/eigen_values.h"

namespace meshwright::planner {
namespace {

// The related results; each has a column in `points`, less the middle.
struct Seen {
  Eigen::MatrixXd points;
  Eigen::VectorXd values;
  Eigen::VectorXd noises;
  std::vector<Eigen::Index> sweeps;  // of each result
};

Seen SeenOf(const RelatedSweeps& relatives, const TrialPoint& middle) {
  Seen seen;
  const Eigen::Index count = relatives.results();
  seen.points.resize(Index(middle.size()), count);
  seen.values.resize(count);
  seen.noises.resize(count);
  for (size_t sweep = 0; sweep < relatives.sweeps.size(); ++sweep) {
    for (const RelatedResult& result : relatives.sweeps[sweep].results) {
      const Eigen::Index place = Index(seen.sweeps.size());
      for (size_t i = 0; i < middle.size(); ++i) {
        seen.points(Index(i), place) = result.point[i] - middle[i];
      }
      seen.values(place) = result.residual;
      seen.noises(place) = result.noise;
      seen.sweeps.push_back(Index(sweep));
    }
  }
  return seen;
}

Eigen::MatrixXd MatrixOf(absl::Span<const TrialPoint> points, size_t rows) {
  Eigen::MatrixXd matrix(Index(rows), Index(points.size()));
  for (size_t j = 0; j < points.size(); ++j) {
    for (size_t i = 0; i < rows; ++i) matrix(Index(i), Index(j)) = points[j][i];
  }
  return matrix;
}

// The slope and local kernels' shares of the covariances between the columns of `a` and of `b`.
struct Shares {
  Eigen::MatrixXd slopes;
  Eigen::MatrixXd near;
};

Shares SharesOf(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, const ResidualPriors& priors) {
  Shares shares;
  shares.slopes = a.transpose() * b;
  Eigen::MatrixXd distances = -2.0 * shares.slopes;
  distances.colwise() += a.colwise().squaredNorm().transpose();
  distances.rowwise() += b.colwise().squaredNorm();
  shares.near = Square(priors.near) *
                (-0.5 / Square(priors.reach) * distances.array().max(0.0)).exp().matrix();
  shares.slopes *= Square(priors.axis);
  return shares;
}

Eigen::MatrixXd RelationsAmong(const RelatedSweeps& relatives) {
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

}  // namespace

RelatedPrior::RelatedPrior(absl::Span<const TrialPoint> points, const TrialPoint& middle,
                           const ResidualPriors& priors, const RelatedSweeps& relatives) {
  if (relatives.results() == 0 || points.empty()) return;
  Seen seen = SeenOf(relatives, middle);
  const Eigen::Index count = seen.values.size();
  const Eigen::MatrixXd among = RelationsAmong(relatives);
  const Eigen::MatrixXd relations = among(seen.sweeps, seen.sweeps);
  const Shares shared = SharesOf(seen.points, seen.points, priors);
  Eigen::MatrixXd covariance = Square(priors.common) * relations +
                               relations.cwiseProduct(shared.slopes) +
                               relations.cwiseAbs2().cwiseProduct(shared.near);
  covariance.diagonal().array() += Square(priors.noise) + seen.noises.array().square();

  Eigen::VectorXd relation(count);  // of each result's sweep to this sweep
  for (Eigen::Index i = 0; i < count; ++i) {
    const size_t sweep = static_cast<size_t>(seen.sweeps[static_cast<size_t>(i)]);
    relation(i) = std::exp(-SweepDistance(relatives.own, relatives.sweeps[sweep].traits));
  }
  const Shares own = SharesOf(seen.points, MatrixOf(points, middle.size()), priors);
  Eigen::MatrixXd common = (Square(priors.common) * relation).replicate(1, own.near.cols());
  Eigen::MatrixXd apart =
      relation.asDiagonal() * own.slopes + relation.cwiseAbs2().asDiagonal() * own.near;
  const Eigen::LLT<Eigen::MatrixXd> root(covariance);
  root.matrixL().solveInPlace(seen.values);
  root.matrixL().solveInPlace(common);
  root.matrixL().solveInPlace(apart);
  values_ = {seen.values.data(), seen.values.data() + count};
  common_ = Flat(common);
  apart_ = Flat(apart);
}

std::vector<double> RelatedPrior::Explained(double factor) const {
  std::vector<double> explained = common_;
  for (size_t i = 0; i < explained.size(); ++i) explained[i] += factor * apart_[i];
  return explained;
}

}  // namespace meshwright::planner
