#include "base/text/json_members.h"

#include "absl/strings/str_cat.h"
#include "base/text/json_text.h"
#include "base/text/string_view.h"

namespace meshwright {
namespace {

// Iterates over the members of an object's text.
class MemberReader {
 public:
  explicit MemberReader(std::string_view object) : text_(object) {}

  // Returns whether there was one more; after the last, is_well_formed() says whether all was read.
  bool Read() {
    if (at_ == 0) {
      if (!Take('{')) return false;
      if (Take('}')) return End();
    } else if (Take('}')) {
      return End();
    } else if (!Take(',')) {
      return false;
    }
    begin_ = at_;
    if (!SkipString()) return false;
    key_ = text_.substr(begin_ + 1, at_ - begin_ - 2);
    if (!Take(':')) return false;
    const size_t value_begin = at_;
    if (!SkipValue()) return false;
    value_ = text_.substr(value_begin, at_ - value_begin);
    return true;
  }
  bool is_well_formed() const { return well_formed_; }

  // The current member: its key and value, and the range of its text.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  size_t begin() const { return begin_; }
  size_t end() const { return at_; }

 private:
  bool End() {
    well_formed_ = at_ == text_.size();
    return false;
  }
  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool SkipString() {
    if (!Take('"')) return false;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      if (text_[at_] == '\\') ++at_;
    }
    return false;
  }
  bool SkipValue() {
    const size_t first = at_;
    for (int depth = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"') {
        if (!SkipString()) return false;
        continue;
      }
      const bool closes = c == '}' || c == ']';
      if (depth == 0 && (c == ',' || closes)) return at_ > first;
      if (c == '{' || c == '[') ++depth;
      if (closes) --depth;
      // One level is the object itself.
      if (depth >= kMaxJsonDepth) return false;
      ++at_;
    }
    return false;
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t begin_ = 0;
  std::string_view key_;
  std::string_view value_;
  bool well_formed_ = false;
};

}  // namespace

std::optional<std::string_view> FindMember(std::string_view object, std::string_view key) {
  std::optional<std::string_view> found;
  MemberReader reader(object);
  while (reader.Read()) {
    if (reader.key() == key) found = reader.value();
  }
  return reader.is_well_formed() ? found : std::nullopt;
}

std::optional<std::string> WithMember(std::string_view object, std::string_view key,
                                      std::string_view value) {
  // The range of the text that the member replaces.
  std::optional<size_t> begin;
  size_t end = 0;
  MemberReader reader(object);
  while (reader.Read()) {
    if (begin || reader.key() < key) continue;
    begin = reader.begin();
    end = reader.key() == key ? reader.end() : *begin;
  }
  if (!reader.is_well_formed()) return std::nullopt;
  const bool is_last = !begin;
  if (is_last) begin = end = object.size() - 1;
  const bool follows_one = is_last && *begin > 1;
  const bool is_followed = !is_last && end == *begin;
  return absl::StrCat(AbslView(object.substr(0, *begin)), follows_one ? ",\"" : "\"", AbslView(key),
                      "\":", AbslView(value), is_followed ? "," : "", AbslView(object.substr(end)));
}

}  // namespace meshwright
