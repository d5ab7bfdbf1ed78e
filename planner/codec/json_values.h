// Reads single values of a JSON text, and keeps the first problem in it.
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

// JsonProblem keeps the first problem that was found while a text was read. Absent keys are
// collected instead, so that the user learns of all of them at once.
class JsonProblem {
 public:
  // Returns whether there is a problem other than absent keys.
  bool found() const { return !status_.ok(); }
  // Returns the first problem. If there is none, returns an error about the absent keys.
  absl::Status status() const;
  // Keeps `status` if it is the first problem. The other functions report their errors through this
  // function.
  void Fail(absl::Status status);
  // Notes that a needed key is absent.
  void Absent(const FieldPath& path);
  void WrongType(const nlohmann::json& value, const FieldPath& path, std::string_view expected);

  // Returns whether `value` is an object or, if `list`, a list. Fails if it is not.
  bool CheckContainer(const nlohmann::json& value, const FieldPath& path, bool list);
  // Returns whether `value` is a list of `entries` entries. Fails if it is not.
  bool CheckList(const nlohmann::json& value, const FieldPath& path, size_t entries);
  // Fails on the first key of `object` that is not in `known`; the error names the nearest known
  // keys. If a misspelt key were ignored, the key that was meant would silently keep its default.
  void RefuseUnknown(const nlohmann::json& object, const FieldPath& path,
                     const std::vector<std::string>& known);

 private:
  absl::Status status_;
  std::vector<std::string> absent_;
};

// Read `from` into `value`. If `from` is of another type, they fail through `problem` and leave
// `value` unchanged.
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                bool& value);
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                int32_t& value);
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                int64_t& value);
// Seeds use all 64 bits, so a negative number is accepted and its bits are reinterpreted as
// unsigned.
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                uint64_t& value);
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                double& value);
void ReadScalar(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
                std::string& value);
// Does the same as ReadScalar() for a text, and returns whether `from` is a text.
bool ReadText(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
              std::string& value);

}  // namespace meshwright::planner
