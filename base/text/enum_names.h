// Names of enumerators as a table of (value, name), and the lookups both ways.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "base/text/field_error.h"

namespace meshwright {

template <typename Kind, size_t kCount>
using EnumNames = std::array<std::pair<Kind, std::string_view>, kCount>;

// Returns "" for a value that the table leaves out.
template <typename Kind, size_t kCount>
constexpr std::string_view NameOf(const EnumNames<Kind, kCount>& names, Kind wanted) {
  for (const auto& [kind, name] : names) {
    if (kind == wanted) return name;
  }
  return "";
}

// Returns the value of a name. InvalidArgument naming `key`, `text` and every name of the table.
template <typename Kind, size_t kCount>
absl::StatusOr<Kind> KindOf(const EnumNames<Kind, kCount>& names, std::string_view key,
                            std::string_view text) {
  std::string accepted;
  for (const auto& [kind, name] : names) {
    if (name == text) return kind;
    if (!accepted.empty()) accepted += ", ";
    accepted += name;
  }
  return FieldError(key, text, "must be one of " + accepted);
}

}  // namespace meshwright
