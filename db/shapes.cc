#include "db/shapes.h"

#include <optional>
#include <utility>

#include "base/text/json_members.h"
#include "base/text/json_text.h"
#include "db/token.h"
#include "nlohmann/json.hpp"

namespace meshwright::db {
namespace {

constexpr size_t kShapeHashDigits = 32;
constexpr char kName[] = "name";
constexpr char kModel[] = "model";
constexpr char kTraining[] = "training";

std::string TakeObject(nlohmann::json& plan, const char* key) {
  const auto found = plan.find(key);
  if (found == plan.end() || !found->is_object()) return "";
  std::string text = found->dump();
  plan.erase(found);
  return text;
}

}  // namespace

std::string ShapeOf(std::string_view json) {
  absl::StatusOr<nlohmann::ordered_json> shape = ParseOrderedJson("shape", json);
  if (!shape.ok() || !shape->is_object()) return std::string(json);
  shape->erase(kName);
  return shape->dump();
}

std::string ShapeHash(std::string_view json) {
  if (json.empty()) return "";
  absl::StatusOr<nlohmann::json> shape = ParseJson("shape", json);
  if (!shape.ok() || !shape->is_object()) return HashOf(json).substr(0, kShapeHashDigits);
  shape->erase(kName);
  return HashOf(shape->dump()).substr(0, kShapeHashDigits);
}

std::string WithName(std::string_view shape, std::string_view name) {
  const absl::StatusOr<nlohmann::ordered_json> keys = ParseOrderedJson("shape", shape);
  if (!keys.ok() || !keys->is_object()) return std::string(shape);
  nlohmann::ordered_json named;
  named[kName] = name;
  for (const auto& [key, value] : keys->items()) named[key] = value;
  return named.dump(2);
}

PlanParts SplitPlan(const std::string& plan_json, std::string_view model_name) {
  absl::StatusOr<nlohmann::json> plan = ParseJson("plan", plan_json);
  if (!plan.ok() || !plan->is_object()) return {.own = plan_json, .model = "", .training = ""};
  PlanParts parts;
  parts.model = TakeObject(*plan, kModel);
  parts.training = TakeObject(*plan, kTraining);
  parts.own = plan->dump();
  if (JoinPlan(parts.own, ShapeOf(parts.model), model_name, parts.training) != plan_json) {
    parts.own = plan_json;
  }
  return parts;
}

std::string JoinPlan(const std::string& own, std::string_view model, std::string_view model_name,
                     std::string_view training) {
  if (model.empty() && training.empty()) return own;
  // Every assignment joins a plan, so that the plan is spliced as text and never parsed.
  const bool is_whole = FindMember(own, kModel) || FindMember(own, kTraining);
  std::optional<std::string> plan = own;
  if (!is_whole && !model.empty()) {
    const std::optional<std::string> named =
        WithMember(model, kName, nlohmann::json(model_name).dump());
    plan = named ? WithMember(own, kModel, *named) : std::nullopt;
  }
  if (!is_whole && plan && !training.empty()) plan = WithMember(*plan, kTraining, training);
  return plan ? *std::move(plan) : own;
}

}  // namespace meshwright::db
