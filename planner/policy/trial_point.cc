#include "planner/policy/trial_point.h"

#include <cmath>
#include <cstddef>

#include "planner/layout/keys.h"

namespace meshwright::planner {
namespace {

// The distance between two words, between the two settings of a switch, and between two
// neighbouring ZeRO stages.
constexpr double kOneStep = 0.5;

void AddCoordinates(const LayoutKey& key, const Layout& layout, TrialPoint& point) {
  switch (key.distance) {
    case KeyDistance::kOctaves:
      return point.push_back(std::log2(static_cast<double>(key.number(layout))));
    case KeyDistance::kSteps:
      return point.push_back(kOneStep * static_cast<double>(key.number(layout)));
    case KeyDistance::kPresence:
      return point.push_back(HasDefault(key, layout) ? 0.0 : kOneStep);
    case KeyDistance::kWords:
      break;
  }
  const double height = kOneStep * std::sqrt(0.5);
  for (size_t word = 0; word < key.words.size(); ++word) {
    point.push_back(static_cast<size_t>(key.number(layout)) == word ? height : 0.0);
  }
}

}  // namespace

TrialPoint PointOf(const Layout& layout) {
  TrialPoint point;
  for (const LayoutKey& key : kLayoutKeys) AddCoordinates(key, layout, point);
  return point;
}

TrialPoint MeanOf(const std::vector<TrialPoint>& points) {
  if (points.empty()) return {};
  TrialPoint mean(points.front().size(), 0.0);
  for (const TrialPoint& point : points) {
    for (size_t i = 0; i < mean.size(); ++i) {
      mean[i] += point[i] / static_cast<double>(points.size());
    }
  }
  return mean;
}

void Subtract(const TrialPoint& middle, TrialPoint& point) {
  for (size_t i = 0; i < middle.size(); ++i) point[i] -= middle[i];
}

double SquaredDistance(const TrialPoint& a, const TrialPoint& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

double DotProduct(const TrialPoint& a, const TrialPoint& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace meshwright::planner
