// ScatterPanel draws predictions against measurements in a square of a picture.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

// Ends of an interval, both above 0.
struct Spread {
  double low = 0.0;
  double high = 0.0;
};

struct ScatterPoint {
  double measured = 0.0;   // above 0
  double predicted = 0.0;  // above 0
  std::string_view colour;
  std::optional<Spread> measured_spread = {};
  std::optional<Spread> predicted_spread = {};
};

// Position of a panel's frame, in pixels.
struct PanelPlace {
  double x = 0.0;
  double top = 0.0;
  double side = 0.0;
};

// Both axes are logarithmic and have the same range, so the diagonal is perfect agreement. A band
// marks 10 % on either side of it. A line through a point is an interval; it ends at the frame.
class ScatterPanel {
 public:
  ScatterPanel(const PanelPlace& place, std::string_view unit, std::vector<ScatterPoint> points);

  // Appends the panel. Writes `none` in its middle if there are no points.
  void Append(std::string_view title, std::string_view none, std::string& svg) const;

 private:
  double Share(double value) const;
  double X(double value) const { return place_.x + place_.side * Share(value); }
  double Y(double value) const { return place_.top + place_.side * (1.0 - Share(value)); }
  void AppendTicks(std::string& svg) const;
  void AppendAgreement(std::string& svg) const;
  void AppendSpreads(const ScatterPoint& point, std::string& svg) const;
  void AppendAxisNames(std::string& svg) const;

  PanelPlace place_;
  std::string_view unit_;
  std::vector<ScatterPoint> points_;
  double low_;   // log10 of the lower end of both axes
  double high_;  // log10 of the upper end of both axes
};

}  // namespace meshwright::planner
