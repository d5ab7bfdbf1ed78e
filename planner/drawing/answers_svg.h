// Draws the planner's answers. Each function returns a self-contained SVG file that follows the
// reader's light or dark setting.
#pragma once

#include <string>

#include "planner/drawing/picture_origin.h"
#include "planner/report/comparison.h"
#include "planner/report/fastest_report.h"
#include "planner/report/limits_report.h"
#include "planner/report/scale_report.h"
#include "planner/report/study_report.h"

namespace meshwright::planner {

// Draws two bars for each layout: the parts of its step time, and the parts of its fullest device's
// memory. Dotted lines mark the bytes that the memory criterion allows, and the memory of a device.
std::string ComparisonSvg(const CompareAnswer& answer, const PictureOrigin& origin);

// Draws a run's time over the number of devices, one line for each strategy. Both axes are
// logarithmic.
std::string FastestSvg(const FastestAnswer& answer, const PictureOrigin& origin);

// Draws up to three bars for each limit: the value asked for, the largest value that fits, and the
// next value, which does not fit.
std::string FitSvg(const FitAnswer& answer, const PictureOrigin& origin);

// Draws four curves over the number of devices, whose axis is logarithmic: tokens per second and
// device, the exposed share of a step, the power of a device, and tokens per joule. The last two
// are missing if the cluster does not give its devices' power.
std::string ScaleSvg(const ScaleAnswer& answer, const PictureOrigin& origin);

// Draws the MFU of each arm as a bar; recommended arms have a colour of their own.
std::string StudySvg(const StudyAnswer& answer, const PictureOrigin& origin);

}  // namespace meshwright::planner
