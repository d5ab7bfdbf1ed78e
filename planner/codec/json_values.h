// What is wrong in a JSON text, and the reading of its single values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/text/field_error.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// The first thing that was wrong while a text was read.
class JsonProblem {
 public:
  bool found() const { return !status_.ok(); }
  const absl::Status& status() const { return status_; }
  // Keeps `status` where it is the first.
  void Fail(absl::Status status);
  void Absent(const FieldPath& path);
  void WrongType(const nlohmann::json& value, const FieldPath& path, std::string_view expected);

  // Whether `value` is an object, or a list where it is to be one. Fails where it is not.
  bool CheckContainer(const nlohmann::json& value, const FieldPath& path, bool list);
  // Whether it is a list of so many entries.
  bool CheckList(const nlohmann::json& value, const FieldPath& path, size_t entries);
  // Fails on a key of `object` that is not `known`, with the nearest ones: a misspelt one would
  // silently keep its default.
  void RefuseUnknown(const nlohmann::json& object, const FieldPath& path,
                     const std::vector<std::string>& known);

 private:
  absl::Status status_;
};

// Each fails and leaves `value` alone where `from` is something else; ReadText says whether it is
// a text.
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                bool& value);
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                int32_t& value);
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                int64_t& value);
// Seeds use all 64 bits: a negative number is read as the bits that it has.
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                uint64_t& value);
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                double& value);
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                std::string& value);
bool ReadText(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
              std::string& value);

}  // namespace meshwright::planner
