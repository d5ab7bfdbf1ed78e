// The fields of a calibration (planner/codec/fields.h), inside cluster and framework files.
#pragma once

#include "planner/codec/fields.h"
#include "planner/spec/calibration.h"

namespace meshwright::planner {

template <ConstOr<CalibratedConstant> Constant, typename Visitor>
void VisitFields(Constant& constant, Visitor& visit) {
  visit(Needed("prior"), constant.prior);
  visit(Needed("prior_sigma"), constant.prior_sigma);
  visit(Needed("value"), constant.value);
  visit(Needed("sigma"), constant.sigma);
  visit(OnlyIf(constant.at_bound, "at_bound"), constant.at_bound);
}

template <ConstOr<Calibration> Fit, typename Visitor>
void VisitFields(Fit& fit, Visitor& visit) {
  visit("command", fit.command);
  visit("rows", fit.rows);
  visit("sources", fit.sources);
  visit(OnlyIf(fit.prior_rows > 0, "prior_rows"), fit.prior_rows);
  visit("median_error", fit.median_error);
  visit("mean_error", fit.mean_error);
  visit(ByName("constants"), fit.constants);
}

// The key of a file: absent where nothing was fitted. Unknown keys of a newer fit are ignored.
inline Field CalibrationKey(const Calibration& fit) {
  return OnlyIf(!fit.command.empty(), Open("calibration"));
}

}  // namespace meshwright::planner
