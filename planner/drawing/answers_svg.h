// Draws the planner's answers. Each function returns a self-contained SVG file that follows the
// reader's light or dark setting.
#pragma once

#include <string>

#include "planner/report/comparison.h"
#include "planner/report/fastest_report.h"
#include "planner/report/limits_report.h"
#include "planner/report/scale_report.h"
#include "planner/report/study_report.h"

namespace meshwright::planner {

// Draws bars of all layouts by the parts of their steps and of their fullest device's memory.
std::string ComparisonSvg(const CompareAnswer& answer);

// Draws a run's time over the number of devices, one line for each strategy.
std::string FastestSvg(const FastestAnswer& answer);

// Draws as bars, for each limit, the value asked for, the largest that fits and the next that does
// not.
std::string FitSvg(const FitAnswer& answer);

// Draws tokens per second and device, share of exposed time and tokens per joule over the number of
// devices.
std::string ScaleSvg(const ScaleAnswer& answer);

// Draws the throughput of each arm as a bar; recommended arms have a colour of their own.
std::string StudySvg(const StudyAnswer& answer);

}  // namespace meshwright::planner
