// ScatterPanel draws predictions against measurements in a square of a picture.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

struct ScatterPoint {
  double measured = 0.0;  // above 0, as is `predicted`
  double predicted = 0.0;
  std::string_view colour;
};

// Position of a panel's frame, in pixels.
struct PanelPlace {
  double x = 0.0;
  double top = 0.0;
  double side = 0.0;
};

// Both axes are logarithmic with the same range, so that the diagonal is agreement; a band around
// it shows 10 % either way.
class ScatterPanel {
 public:
  ScatterPanel(const PanelPlace& place, std::string_view unit, std::vector<ScatterPoint> points);

  // Appends the panel; `none` is written in its middle where there are no points.
  void Append(std::string_view title, std::string_view none, std::string& svg) const;

 private:
  double Share(double value) const;
  double X(double value) const { return place_.x + place_.side * Share(value); }
  double Y(double value) const { return place_.top + place_.side * (1.0 - Share(value)); }
  std::vector<double> Ticks() const;
  void AppendTicks(std::string& svg) const;
  void AppendAgreement(std::string& svg) const;
  void AppendAxisNames(std::string& svg) const;

  PanelPlace place_;
  std::string_view unit_;
  std::vector<ScatterPoint> points_;
  double low_;  // log10 of the ends of both axes
  double high_;
};

}  // namespace meshwright::planner
