// Pictures of the planner's answers, each the text of an SVG file that needs nothing beside it and
// follows the reader's light or dark setting.
#pragma once

#include <string>

#include "planner/report/comparison.h"
#include "planner/report/fastest_report.h"
#include "planner/report/limits_report.h"
#include "planner/report/scale_report.h"
#include "planner/report/study_report.h"

namespace meshwright::planner {

// The bars of all layouts by the parts of their steps and of their fullest device's memory.
std::string ComparisonSvg(const CompareAnswer& answer);

// A run's time over the number of devices, one line for each strategy.
std::string FastestSvg(const FastestAnswer& answer);

// For each limit the value asked for, the largest that fits and the next that does not as bars, as
// the text of an SVG file.
std::string FitSvg(const FitAnswer& answer);

// Tokens a second and device, share of exposed time and tokens a joule over the number of devices.
std::string ScaleSvg(const ScaleAnswer& answer);

// The throughput of each arm as a bar, those recommended in a colour of their own.
std::string StudySvg(const StudyAnswer& answer);

}  // namespace meshwright::planner
