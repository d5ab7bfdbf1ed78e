// EnumNames is a table of enumerators and their names. NameOf() and KindOf() look up an entry by
// enumerator and by name.
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

// Returns the name of a value, or "" if the table leaves it out.
template <typename Kind, size_t kCount>
constexpr std::string_view NameOf(const EnumNames<Kind, kCount>& names, Kind wanted) {
  for (const auto& [kind, name] : names) {
    if (kind == wanted) return name;
  }
  return "";
}

// Returns the enumerator with the name `text`. Returns InvalidArgument naming `key`, with all names
// of the table, if there is none.
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
