// Content-addressed parts that many sweeps share and the store keeps once: models, trainings,
// clusters and framework profiles, each under the hash of its shape. A shape is an object's JSON
// without its name: equal objects under two names have one shape.
//
// Callers may rely on: a text that is no object is kept as it is and is its own shape; joining the
// parts of a split text gives the same text, numbers digit for digit.
#pragma once

#include <string>
#include <string_view>

namespace meshwright::db {

// Returns the object without its name, without spaces, its keys in their order.
std::string ShapeOf(std::string_view json);

// Returns 128 bits of SHA-256 in hexadecimal, independent of the key order and the name; empty for
// an empty text.
std::string ShapeHash(std::string_view json);

// Returns the object with its name first again, indented by two: the JSON that ShapeOf() was given.
std::string WithName(std::string_view shape, std::string_view name);

// A trial's plan, split from what all trials of its sweep share.
struct PlanParts {
  std::string own;       // the plan without the two below
  std::string model;     // empty where the plan has none
  std::string training;  // empty where the plan has none
};
// `own` is the whole plan where JoinPlan() would not restore the same text from the parts.
PlanParts SplitPlan(const std::string& plan_json, std::string_view model_name);

// Returns the plan that was split, as JSON without spaces and with sorted keys. `model` is a shape;
// an `own` that has a model or a training is whole.
std::string JoinPlan(const std::string& own, std::string_view model, std::string_view model_name,
                     std::string_view training);

}  // namespace meshwright::db
