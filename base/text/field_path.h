// FieldPath is the position of a field in a text or a message, for error messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace meshwright {

// A path such as "ranks[2].phases.bubble_s", assembled only when it is asked for. Refers to the
// enclosing path and to the key, which must outlive it.
class FieldPath {
 public:
  // The root, with which the paths of its fields begin.
  explicit FieldPath(std::string_view root) : key_(root) {}
  FieldPath(const FieldPath& around, std::string_view key) : around_(&around), key_(key) {}
  FieldPath(const FieldPath& around, size_t index)
      : around_(&around), index_(index), is_index_(true) {}

  std::string ToText() const;

 private:
  const FieldPath* around_ = nullptr;
  std::string_view key_;
  size_t index_ = 0;
  bool is_index_ = false;
};

}  // namespace meshwright
