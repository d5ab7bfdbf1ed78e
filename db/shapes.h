// What many sweeps have in common and the store keeps once: models, trainings, clusters and
// framework profiles, each under the hash of its shape. A shape is an object's JSON without its
// name: the same thing under two names is one.
//
// Callers may rely on: a text that is no object is kept as it is and is its own shape; what was
// taken apart reads as it was when it is put together again, numbers digit for digit.
#pragma once

#include <string>
#include <string_view>

namespace meshwright::db {

// The object without its name, without spaces, its keys in their order.
std::string ShapeOf(std::string_view json);

// 128 bits of SHA-256, hexadecimal, whatever the order of the keys and the name; empty for an empty
// text.
std::string ShapeHash(std::string_view json);

// The object with its name first, indented by two, as ShapeOf() was given it.
std::string WithName(std::string_view shape, std::string_view name);

// A trial's plan, without what its sweep has for all of its trials.
struct PlanParts {
  std::string own;       // the plan without the two below
  std::string model;     // empty where the plan has none
  std::string training;  // empty where the plan has none
};
// `own` is the whole plan where JoinPlan() would not make the same text of the parts again.
PlanParts SplitPlan(const std::string& plan_json, std::string_view model_name);

// The plan that was split, as JSON without spaces and its keys sorted. `model` is a shape; an
// `own` that has one of them is whole.
std::string JoinPlan(const std::string& own, std::string_view model, std::string_view model_name,
                     std::string_view training);

}  // namespace meshwright::db
