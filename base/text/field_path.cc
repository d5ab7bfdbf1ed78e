#include "base/text/field_path.h"

#include "absl/strings/str_cat.h"

namespace meshwright {

std::string FieldPath::ToText() const {
  const std::string before = around_ == nullptr ? "" : around_->ToText();
  if (is_index_) return absl::StrCat(before, "[", index_, "]");
  // A root is used as it is: "plan." has its own dot.
  const bool joined = around_ == nullptr || before.empty() || before.back() == '.';
  std::string path = joined ? before : before + ".";
  path.append(key_);
  return path;
}

}  // namespace meshwright
