// Lists the fields of a calibration (planner/codec/fields.h) in cluster and framework files.
#pragma once

#include "planner/codec/fields.h"
#include "planner/spec/calibration.h"

namespace meshwright::planner {

template <ConstOr<CalibratedConstant> Constant, typename Visitor>
void VisitFields(Constant& constant, Visitor& visit) {
  visit(Needed({"prior", "Value at which the fit starts"}), constant.prior);
  visit(Needed({"prior_sigma", "Standard deviation of its logarithm"}), constant.prior_sigma);
  visit(Needed({"value", "Fitted value"}), constant.value);
  visit(Needed({"sigma", "Standard deviation of its logarithm"}), constant.sigma);
  visit(OnlyIf(constant.at_bound,
               {"at_bound", "Whether the fit stopped at the bound of what is physical"}),
        constant.at_bound);
}

template <ConstOr<Calibration> Fit, typename Visitor>
void VisitFields(Fit& fit, Visitor& visit) {
  visit({"command", "Command that made it; empty where it was not fitted"}, fit.command);
  visit({"rows", "Measured steps that were used"}, fit.rows);
  visit({"sources", "Who measured these steps"}, fit.sources);
  visit(OnlyIf(fit.prior_rows > 0, {"prior_rows",
                                    "Measured steps behind the fit that this one started from; "
                                    "absent where it started from data sheets"}),
        fit.prior_rows);
  visit({"median_error", "Median of |predicted / measured - 1|"}, fit.median_error);
  visit({"mean_error", "Mean of |predicted / measured - 1|"}, fit.mean_error);
  visit(ByName({"constants", "Fitted constants, by name"}), fit.constants);
}

// Returns the key of a calibration in a file. The key is absent if nothing was fitted. Unknown keys
// inside it, such as those of a newer fit, are ignored.
inline Field CalibrationKey(const Calibration& fit) {
  return OnlyIf(
      !fit.command.empty(),
      Open({"calibration", "The fit that its constants are from; absent where there was none"}));
}

}  // namespace meshwright::planner
