#include "planner/codec/json_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/nearest.h"

namespace meshwright::planner {

using nlohmann::json;

void JsonProblem::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void JsonProblem::Absent(const FieldPath& path) { absent_.push_back(path.ToText()); }

absl::Status JsonProblem::status() const {
  if (!status_.ok() || absent_.empty()) return status_;
  std::string problem = "this key is needed";
  for (size_t i = 1; i < absent_.size(); ++i) {
    absl::StrAppend(&problem, i == 1 ? ", and so are " : ", ", absent_[i]);
  }
  if (absent_.size() == 2) problem = absl::StrCat("this key is needed, and so is ", absent_[1]);
  return FieldError(absent_.front(), "(absent)", problem);
}

void JsonProblem::WrongType(const json& value, const FieldPath& path, std::string_view expected) {
  Fail(FieldError(path.ToText(), ShowJson(value), "must be " + std::string(expected)));
}

bool JsonProblem::CheckContainer(const json& value, const FieldPath& path, bool list) {
  if (list ? value.is_array() : value.is_object()) return true;
  WrongType(value, path, list ? "a list" : "an object");
  return false;
}

bool JsonProblem::CheckList(const json& value, const FieldPath& path, size_t entries) {
  if (!CheckContainer(value, path, /*list=*/true)) return false;
  if (value.size() == entries) return true;
  Fail(FieldError(path.ToText(), absl::StrCat("(", value.size(), " entries)"),
                  absl::StrCat("must have ", entries)));
  return false;
}

void JsonProblem::RefuseUnknown(const json& object, const FieldPath& path,
                                const std::vector<std::string>& known) {
  if (found()) return;
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    Fail(FieldError(FieldPath(path, key).ToText(), ShowJson(value),
                    std::string(UnknownName("key", key, known).message())));
    return;
  }
}

void ReadScalar(const json& from, const FieldPath& path, JsonProblem& problem, bool& value) {
  if (!from.is_boolean()) return problem.WrongType(from, path, "true or false");
  value = from.get<bool>();
}

void ReadScalar(const json& from, const FieldPath& path, JsonProblem& problem, int32_t& value) {
  int64_t read = value;
  ReadScalar(from, path, problem, read);
  if (read != static_cast<int32_t>(read)) {
    return problem.Fail(FieldError(path.ToText(), read, "must fit into 32 bits"));
  }
  value = static_cast<int32_t>(read);
}

void ReadScalar(const json& from, const FieldPath& path, JsonProblem& problem, int64_t& value) {
  // 48e9 is a whole number, too.
  constexpr double kMost = 9007199254740992.0;  // 2^53: every whole number below has a double
  if (from.is_number_float()) {
    const auto number = from.get<double>();
    if (!(std::abs(number) <= kMost) || number != std::trunc(number)) {
      return problem.WrongType(from, path, "a whole number");
    }
    value = static_cast<int64_t>(number);
    return;
  }
  const bool too_large =
      from.is_number_unsigned() &&
      from.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!from.is_number_integer() || too_large) {
    return problem.WrongType(from, path, "a whole number");
  }
  value = from.get<int64_t>();
}

void ReadScalar(const json& from, const FieldPath& path, JsonProblem& problem, uint64_t& value) {
  if (!from.is_number_integer()) return problem.WrongType(from, path, "a whole number");
  value = from.get<uint64_t>();
}

void ReadScalar(const json& from, const FieldPath& path, JsonProblem& problem, double& value) {
  if (!from.is_number()) return problem.WrongType(from, path, "a number");
  value = from.get<double>();
}

void ReadScalar(const json& from, const FieldPath& path, JsonProblem& problem, std::string& value) {
  ReadText(from, path, problem, value);
}

bool ReadText(const json& from, const FieldPath& path, JsonProblem& problem, std::string& value) {
  if (!from.is_string()) {
    problem.WrongType(from, path, "a text");
    return false;
  }
  value = from.get<std::string>();
  return true;
}

}  // namespace meshwright::planner
