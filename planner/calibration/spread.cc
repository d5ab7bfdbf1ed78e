#include "planner/calibration/spread.h"

#include <algorithm>
#include <cmath>

#include "planner/estimate/estimate.h"
#include "planner/estimate/step_interval.h"

namespace meshwright::planner {
namespace {

// Earlier rows count for at most this many rows: they come from other machines, and a few dozen
// rows of this machine must be able to outweigh them.
constexpr double kMostPriorRows = 20.0;
// The weight of a spread that was written down without a fit, or that is unknown, and the latter's
// value.
constexpr double kUnfittedRows = 5.0;
constexpr double kUnknownSigma = 0.1;
// The largest spread that a profile may have; beyond it a prediction is meaningless.
constexpr double kMostSigma = 1.9;
// Fewer rows have no fifth that could be left out.
constexpr size_t kRowsOfFifth = 5;

// Returns how much wider the central 80 % of a t distribution are than a normal distribution's: the
// first term of the Cornish-Fisher expansion.
double TailFactor(double degrees_of_freedom) {
  return 1.0 + (kEightyPercentSigmas * kEightyPercentSigmas + 1.0) / (4.0 * degrees_of_freedom);
}

}  // namespace

double Scatter(const std::vector<double>& errors) {
  std::vector<double> sizes;
  sizes.reserve(errors.size());
  for (const double error : errors) sizes.push_back(std::abs(error));
  return Quantile(sizes, sizes.size() < kRowsOfFifth ? 1.0 : 0.8) / kEightyPercentSigmas;
}

double Quantile(std::vector<double> values, double share) {
  const auto index = static_cast<size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(index), values.end());
  return values[index];
}

SpreadPrior SpreadPriorOf(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  const Calibration& calibration =
      SpreadIsOfCluster(cluster, profile) ? cluster.calibration : profile.calibration;
  const double sigma = FittedSpread(cluster, profile);
  const auto rows = static_cast<double>(calibration.rows + calibration.prior_rows);
  return {.sigma = sigma > 0.0 ? sigma : kUnknownSigma,
          .rows = rows > 0.0 ? std::min(rows, kMostPriorRows) : kUnfittedRows};
}

double PredictiveSigma(const FitErrors& fit, const std::optional<SpreadPrior>& prior) {
  const auto rows = static_cast<double>(fit.errors.size());
  const double scatter = Scatter(fit.errors);
  if (!prior) {
    return std::min(std::sqrt(scatter * scatter + fit.constants_variance), kMostSigma);
  }
  // A row's leverage is the share of its error that the constants absorb. The sum over the rows is
  // the number of rows that the constants used up, at most the number of constants.
  const double leverage = fit.constants_variance / (fit.error_sigma * fit.error_sigma);
  const double used = std::min(rows * leverage, static_cast<double>(fit.constants));
  const double freedom = prior->rows + std::max(0.0, rows - used);
  const double known = prior->sigma * prior->sigma;
  double variance = (prior->rows * known + rows * scatter * scatter) / freedom;
  if (fit.errors.size() <= fit.constants) variance = std::max(variance, known);
  return std::min(TailFactor(freedom) * std::sqrt(variance + fit.constants_variance), kMostSigma);
}

}  // namespace meshwright::planner
