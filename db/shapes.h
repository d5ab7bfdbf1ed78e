// A shape is a model, training, cluster or framework profile as JSON without its name. Since many
// sweeps share shapes, the store keeps each once, under its hash. Equal objects under two names
// have one shape.
//
// Callers may rely on: a text that is not a JSON object is its own shape. JoinPlan() restores the
// text that SplitPlan() split, digit for digit.
#pragma once

#include <string>
#include <string_view>

namespace meshwright::db {

// Returns the object without its name and without spaces. The keys keep their order.
std::string ShapeOf(std::string_view json);

// Returns 128 bits of a SHA-256 of the shape, in hexadecimal. The hash does not depend on the order
// of the keys or on the name. Returns an empty text for an empty text.
std::string ShapeHash(std::string_view json);

// Reverses ShapeOf(): returns the object with its name as the first key, indented by two.
std::string WithName(std::string_view shape, std::string_view name);

// A trial's plan, split into its own part and the parts that all trials of the sweep share.
struct PlanParts {
  std::string own;       // the plan without its model and training
  std::string model;     // empty if the plan has none
  std::string training;  // empty if the plan has none
};
// Splits a plan. If JoinPlan() would not restore the same text from the parts, `own` is the whole
// plan.
PlanParts SplitPlan(const std::string& plan_json, std::string_view model_name);

// Returns the plan that was split, as JSON without spaces and with sorted keys. `model` is the
// shape of the model. An `own` that has a model or a training is the whole plan, and is returned
// unchanged.
std::string JoinPlan(const std::string& own, std::string_view model, std::string_view model_name,
                     std::string_view training);

}  // namespace meshwright::db
