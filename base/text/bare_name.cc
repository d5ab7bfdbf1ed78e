#include "base/text/bare_name.h"

#include "absl/strings/ascii.h"

namespace meshwright {

std::string BareName(std::string_view name) {
  std::string bare;
  for (const char c : name) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      bare += absl::ascii_tolower(static_cast<unsigned char>(c));
    }
  }
  return bare;
}

}  // namespace meshwright
