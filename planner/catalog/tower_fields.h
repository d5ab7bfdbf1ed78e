// Reads the sizes of a tower from its object in a config.json.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace meshwright::planner {

// A size above this number is refused. It is far above the sizes of every known tower, and keeps
// products of sizes within 64 bits.
inline constexpr int64_t kMaxTowerSize = int64_t{1} << 20;

// TowerFields reads sizes from a tower's object. A size that is absent or out of range makes the
// tower unreadable.
class TowerFields {
 public:
  explicit TowerFields(const nlohmann::json& config) : config_(config) {}

  int64_t Size(std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      const auto value = config_.find(key);
      if (value == config_.end()) continue;
      const bool is_list = value->is_array() && !value->empty();  // of both sides
      const nlohmann::json& number = is_list ? value->front() : *value;
      if (!number.is_number_integer()) continue;
      const auto size = number.get<int64_t>();
      if (size >= 1 && size <= kMaxTowerSize) return size;
    }
    is_readable_ = false;
    return 1;
  }
  int64_t SizeOr(const char* key, int64_t otherwise) const {
    const auto value = config_.find(key);
    return value != config_.end() && value->is_number_integer() ? value->get<int64_t>() : otherwise;
  }
  // Returns whether the key is true, or `otherwise` if it is absent or null.
  bool IsOnOr(const char* key, bool otherwise) const {
    const auto value = config_.find(key);
    return value != config_.end() && value->is_boolean() ? value->get<bool>() : otherwise;
  }
  bool StartsWith(const char* key, std::string_view start) const {
    const auto value = config_.find(key);
    return value != config_.end() && value->is_string() &&
           value->get_ref<const std::string&>().starts_with(start);
  }
  void Fail() { is_readable_ = false; }
  bool Has(const char* key) const { return config_.contains(key); }
  bool Is(const char* key, const char* text) const {
    const auto value = config_.find(key);
    return value != config_.end() && *value == text;
  }
  int64_t Length(const char* key) const {
    const auto list = config_.find(key);
    return list != config_.end() && list->is_array() ? static_cast<int64_t>(list->size()) : 0;
  }
  bool is_readable() const { return is_readable_; }

 private:
  const nlohmann::json& config_;
  bool is_readable_ = true;
};

}  // namespace meshwright::planner
