#include "planner/layout/filter_parser.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::planner {
namespace {

// A word, a number, a sign or a parenthesis.
struct Token {
  std::string_view text;  // empty behind the last one
  size_t at = 0;          // of its first character, from 0
};

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsSign(char c) { return c == '=' || c == '!' || c == '<' || c == '>'; }

std::string Listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text.append(i + 1 == words.size() ? " or " : ", ");
    text.append(words[i]);
  }
  return text;
}

std::string FieldNames() { return Listed({kFilterFieldNames.begin(), kFilterFieldNames.end()}); }

class Parser {
 public:
  Parser(std::string_view name, std::string_view text) : name_(name), text_(text) { Next(); }

  absl::StatusOr<Filter> Parse() {
    if (text_.size() > kMostFilterBytes) {
      return FieldError(name_, text_,
                        absl::StrCat("is longer than ", kMostFilterBytes, " characters"));
    }
    if (token_.text.empty()) return Filter();
    ASSIGN_OR_RETURN(Filter filter, ParseAny());
    if (!token_.text.empty()) return Expected("and, or, or the end");
    return filter;
  }

  absl::StatusOr<Filter> ParseValues() {
    Filter all;
    while (!token_.text.empty()) {
      if (!all.parts.empty() && !Take(",")) return Expected("a comma or the end");
      ASSIGN_OR_RETURN(const FilterField field, ParseField());
      if (!Take("=")) return Expected("=");
      Filter equal = {.kind = Filter::Kind::kCompare, .field = field};
      ASSIGN_OR_RETURN(const int64_t value, ParseValue(field));
      equal.values.push_back(value);
      all.parts.push_back(std::move(equal));
    }
    return all;
  }

 private:
  void Next() {
    const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (end_ < text_.size() && is_space(text_[end_])) ++end_;
    const size_t begin = end_;
    const auto take_while = [this](bool (*belongs)(char)) {
      while (end_ < text_.size() && belongs(text_[end_])) ++end_;
    };
    if (begin < text_.size()) {
      if (IsWord(text_[begin])) {
        take_while(IsWord);
      } else if (IsSign(text_[begin])) {
        take_while(IsSign);
      } else {
        ++end_;
      }
    }
    token_ = {.text = text_.substr(begin, end_ - begin), .at = begin};
  }

  bool Take(std::string_view wanted) {
    if (token_.text != wanted) return false;
    Next();
    return true;
  }

  absl::Status Expected(const std::string& what) const {
    const std::string found =
        token_.text.empty() ? "the text ends" : absl::StrCat("there is ", std::string(token_.text));
    return FieldError(
        name_, text_,
        absl::StrCat("at character ", token_.at + 1, " ", found, ", where ", what, " must be"));
  }

  // Parts joined by `word`, or the only one of them.
  template <typename ParsePart>
  absl::StatusOr<Filter> ParseJoined(Filter::Kind kind, std::string_view word,
                                     const ParsePart& parse_part) {
    Filter joined = {.kind = kind};
    do {
      ASSIGN_OR_RETURN(Filter part, parse_part());
      joined.parts.push_back(std::move(part));
    } while (Take(word));
    if (joined.parts.size() > 1) return joined;
    return Filter(std::move(joined.parts.front()));
  }

  absl::StatusOr<Filter> ParseAny() {
    return ParseJoined(Filter::Kind::kAny, "or", [this] { return ParseAll(); });
  }
  absl::StatusOr<Filter> ParseAll() {
    return ParseJoined(Filter::Kind::kAll, "and", [this] { return ParseOne(); });
  }

  absl::StatusOr<Filter> ParseOne() {
    if (depth_ == kMostFilterDepth) {
      return FieldError(name_, text_,
                        absl::StrCat("goes deeper than ", kMostFilterDepth, " parentheses"));
    }
    ++depth_;
    absl::StatusOr<Filter> one = ParseOneInside();
    --depth_;
    return one;
  }

  absl::StatusOr<Filter> ParseOneInside() {
    if (Take("not")) {
      ASSIGN_OR_RETURN(Filter part, ParseOne());
      return Filter{.kind = Filter::Kind::kNot, .parts = {std::move(part)}};
    }
    if (!Take("(")) return ParseComparison();
    ASSIGN_OR_RETURN(Filter inside, ParseAny());
    if (!Take(")")) return Expected("and, or, or )");
    return inside;
  }

  absl::StatusOr<Filter> ParseComparison() {
    ASSIGN_OR_RETURN(const FilterField field, ParseField());
    Filter compare = {.kind = Filter::Kind::kCompare, .field = field};
    ASSIGN_OR_RETURN(compare.comparison, ParseSign(field));
    if (compare.comparison != Comparison::kIn) {
      ASSIGN_OR_RETURN(const int64_t value, ParseValue(field));
      compare.values.push_back(value);
      return compare;
    }
    if (!Take("(")) return Expected("(");
    do {
      ASSIGN_OR_RETURN(const int64_t value, ParseValue(field));
      compare.values.push_back(value);
    } while (Take(","));
    if (!Take(")")) return Expected("a comma or )");
    return compare;
  }

  absl::StatusOr<FilterField> ParseField() {
    const std::string_view word = token_.text == "schedule" ? "sched" : token_.text;
    const auto known = std::find(kFilterFieldNames.begin(), kFilterFieldNames.end(), word);
    if (known == kFilterFieldNames.end()) return Expected(FieldNames());
    Next();
    return static_cast<FilterField>(known - kFilterFieldNames.begin());
  }

  absl::StatusOr<Comparison> ParseSign(FilterField field) {
    constexpr std::array<std::pair<std::string_view, Comparison>, 8> kSigns = {
        {{"=", Comparison::kEqual},
         {"==", Comparison::kEqual},
         {"!=", Comparison::kNotEqual},
         {"in", Comparison::kIn},
         {"<", Comparison::kLess},
         {"<=", Comparison::kAtMost},
         {">", Comparison::kMore},
         {">=", Comparison::kAtLeast}}};
    constexpr size_t kUnordered = 4;  // the first ones
    const bool has_order = FilterWords(field).empty();
    const auto end = has_order ? kSigns.end() : kSigns.begin() + kUnordered;
    const auto sign = std::find_if(
        kSigns.begin(), end, [this](const auto& known) { return known.first == token_.text; });
    if (sign == end) return Expected(has_order ? "=, !=, <, <=, >, >= or in" : "=, != or in");
    Next();
    return sign->second;
  }

  absl::StatusOr<int64_t> ParseValue(FilterField field) {
    const std::vector<std::string_view> words = FilterWords(field);
    if (!words.empty()) {
      const auto word = std::find(words.begin(), words.end(), token_.text);
      if (word == words.end()) return Expected(Listed(words));
      Next();
      return word - words.begin();
    }
    int64_t value = 0;
    const char* const end = token_.text.data() + token_.text.size();
    const auto [stop, error] = std::from_chars(token_.text.data(), end, value);
    if (token_.text.empty() || error != std::errc() || stop != end) {
      return Expected("a whole number");
    }
    Next();
    return value;
  }

  const std::string_view name_;
  const std::string_view text_;
  size_t end_ = 0;  // of token_
  Token token_;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<Filter> ParseFilter(std::string_view name, std::string_view text) {
  return Parser(name, text).Parse();
}

absl::StatusOr<Filter> ParseFixed(std::string_view name, std::string_view text) {
  return Parser(name, text).ParseValues();
}

}  // namespace meshwright::planner
