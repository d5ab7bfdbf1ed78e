// Reads typed fields of a JSON object. The first problem is kept and names the field.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// Returns the JSON object. Returns InvalidArgument if `text` is not a JSON object of at most
// kMaxSpecBytes; `what` names the text in the message.
absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view what, std::string_view text);

// JsonFields reads the fields of one object, which must outlive it. A getter that meets a problem
// returns a default value. Check status() at the end.
class JsonFields {
 public:
  explicit JsonFields(const nlohmann::json& object, std::string prefix = "")
      : object_(object), prefix_(std::move(prefix)) {}

  int64_t Int(std::string_view key);
  // Returns nullopt if the key is absent or null.
  std::optional<int64_t> OptionalInt(std::string_view key);
  int64_t IntOr(std::string_view key, int64_t fallback) {
    return OptionalInt(key).value_or(fallback);
  }
  double Number(std::string_view key);
  std::optional<double> OptionalNumber(std::string_view key);
  double NumberOr(std::string_view key, double fallback) {
    return OptionalNumber(key).value_or(fallback);
  }
  bool BoolOr(std::string_view key, bool fallback);
  std::string String(std::string_view key);
  std::string StringOr(std::string_view key, std::string_view fallback);
  // Returns a list of strings, or an empty list if the key is absent.
  std::vector<std::string> StringsOr(std::string_view key);
  // Returns a list of anything, or null if the key is absent.
  const nlohmann::json* OptionalArray(std::string_view key);
  // Returns an object inside this one. The key is required. If there is a problem, returns an empty
  // object.
  const nlohmann::json& Object(std::string_view key);

  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  // Returns the keys that no getter asked for.
  std::vector<std::string> UnaskedKeys() const;
  // Fails on the first key that no getter asked for. If a misspelt key were ignored, the key that
  // was meant would silently keep its default.
  void RefuseUnknownKeys();
  // Remembers `status` if it is the first problem.
  void Fail(absl::Status status);
  const absl::Status& status() const { return status_; }

 private:
  const nlohmann::json* Find(std::string_view key) const;
  const nlohmann::json* Require(std::string_view key);
  void WrongType(std::string_view key, const nlohmann::json& value, std::string_view expected);

  const nlohmann::json& object_;
  std::string prefix_;
  mutable std::set<std::string, std::less<>> asked_;
  absl::Status status_;
};

}  // namespace meshwright::planner
