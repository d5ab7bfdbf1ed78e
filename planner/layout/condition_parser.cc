#include "planner/layout/condition_parser.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

// A word, a number, a sign or a parenthesis.
struct Token {
  std::string_view text;  // empty behind the last one
  size_t at = 0;          // of its first character, from 0
};

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsSign(char c) { return c == '=' || c == '!' || c == '<' || c == '>'; }

class Parser {
 public:
  Parser(std::string_view name, std::string_view text, const ConditionFields& fields)
      : name_(name), text_(text), fields_(fields) {
    Next();
  }

  absl::StatusOr<Condition> Parse() {
    if (text_.size() > kMostFilterBytes) {
      return FieldError(name_, text_,
                        absl::StrCat("is longer than ", kMostFilterBytes, " characters"));
    }
    if (token_.text.empty()) return Condition();
    ASSIGN_OR_RETURN(Condition condition, ParseAny());
    if (!token_.text.empty()) return Expected("and, or, or the end");
    return condition;
  }

  absl::StatusOr<Condition> ParseValues() {
    Condition all;
    while (!token_.text.empty()) {
      if (!all.parts.empty() && !Take(",")) return Expected("a comma or the end");
      ASSIGN_OR_RETURN(const size_t field, ParseField());
      if (!Take("=")) return Expected("=");
      Condition equal = {.form = ConditionForm::kCompare, .field = field};
      ASSIGN_OR_RETURN(ConditionValue value, ParseValue(field));
      equal.values.push_back(std::move(value));
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

  // Parses parts that are joined by `word`, or a single part.
  template <typename ParsePart>
  absl::StatusOr<Condition> ParseJoined(ConditionForm form, std::string_view word,
                                        const ParsePart& parse_part) {
    Condition joined = {.form = form};
    do {
      ASSIGN_OR_RETURN(Condition part, parse_part());
      joined.parts.push_back(std::move(part));
    } while (Take(word));
    if (joined.parts.size() > 1) return joined;
    return Condition(std::move(joined.parts.front()));
  }

  absl::StatusOr<Condition> ParseAny() {
    return ParseJoined(ConditionForm::kAny, "or", [this] { return ParseAll(); });
  }
  absl::StatusOr<Condition> ParseAll() {
    return ParseJoined(ConditionForm::kAll, "and", [this] { return ParseOne(); });
  }

  absl::StatusOr<Condition> ParseOne() {
    if (depth_ == kMostFilterDepth) {
      return FieldError(name_, text_,
                        absl::StrCat("goes deeper than ", kMostFilterDepth, " parentheses"));
    }
    ++depth_;
    absl::StatusOr<Condition> one = ParseOneInside();
    --depth_;
    return one;
  }

  absl::StatusOr<Condition> ParseOneInside() {
    if (Take("not")) {
      ASSIGN_OR_RETURN(Condition part, ParseOne());
      return Condition{.form = ConditionForm::kNot, .parts = {std::move(part)}};
    }
    if (!Take("(")) return ParseComparison();
    ASSIGN_OR_RETURN(Condition inside, ParseAny());
    if (!Take(")")) return Expected("and, or, or )");
    return inside;
  }

  absl::StatusOr<Condition> ParseComparison() {
    ASSIGN_OR_RETURN(const size_t field, ParseField());
    Condition compare = {.form = ConditionForm::kCompare, .field = field};
    ASSIGN_OR_RETURN(compare.comparison, ParseSign(field));
    if (compare.comparison != Comparison::kIn) {
      ASSIGN_OR_RETURN(ConditionValue value, ParseValue(field));
      compare.values.push_back(std::move(value));
      return compare;
    }
    if (!Take("(")) return Expected("(");
    do {
      ASSIGN_OR_RETURN(ConditionValue value, ParseValue(field));
      compare.values.push_back(std::move(value));
    } while (Take(","));
    if (!Take(")")) return Expected("a comma or )");
    return compare;
  }

  absl::StatusOr<size_t> ParseField() {
    const auto is_meant = [this](const ConditionField& field) {
      return field.name == token_.text ||
             std::find(field.also.begin(), field.also.end(), token_.text) != field.also.end();
    };
    const auto known = std::find_if(fields_.begin(), fields_.end(), is_meant);
    if (token_.text.empty() || known == fields_.end()) return Expected(FieldNames());
    Next();
    return static_cast<size_t>(known - fields_.begin());
  }

  absl::StatusOr<Comparison> ParseSign(size_t field) {
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
    const bool has_order = fields_[field].has_order();
    const auto end = has_order ? kSigns.end() : kSigns.begin() + kUnordered;
    const auto sign = std::find_if(
        kSigns.begin(), end, [this](const auto& known) { return known.first == token_.text; });
    if (sign == end) return Expected(has_order ? "=, !=, <, <=, >, >= or in" : "=, != or in");
    Next();
    return sign->second;
  }

  absl::StatusOr<ConditionValue> ParseValue(size_t field) {
    switch (fields_[field].type) {
      case ValueType::kWhole:
        return ParseNumber<int64_t>("a whole number");
      case ValueType::kReal:
        Widen();
        return ParseNumber<double>("a number");
      case ValueType::kWord:
        return ParseWord(fields_[field].words);
      case ValueType::kText:
        break;
    }
    return fields_[field].read == nullptr ? ParseText() : ParseForm(fields_[field]);
  }

  // Returns the text that begins at the token, without its double quotes if it has them. Next()
  // then goes behind it.
  absl::StatusOr<std::string_view> Text() {
    if (token_.text != "\"") {
      Widen();
      return token_.text;
    }
    const size_t begin = token_.at + 1;
    const size_t quote = text_.find('"', begin);
    if (quote == std::string_view::npos) return Expected("a text that ends with a double quote");
    end_ = quote + 1;
    return text_.substr(begin, quote - begin);
  }

  // A text of the field's own form.
  absl::StatusOr<ConditionValue> ParseForm(const ConditionField& field) {
    ASSIGN_OR_RETURN(const std::string_view text, Text());
    const absl::StatusOr<std::string> value = field.read(field.name, text);
    if (!value.ok()) return Expected(field.accepts);
    Next();
    return ConditionValue(*value);
  }

  absl::StatusOr<ConditionValue> ParseWord(const std::vector<std::string_view>& words) {
    const auto word = std::find(words.begin(), words.end(), token_.text);
    if (word == words.end()) return Expected(ListInWords(words, "or"));
    Next();
    return ConditionValue(static_cast<int64_t>(word - words.begin()));
  }

  template <typename Number>
  absl::StatusOr<ConditionValue> ParseNumber(const char* what) {
    Number value = 0;
    const char* const end = token_.text.data() + token_.text.size();
    const auto [stop, error] = std::from_chars(token_.text.data(), end, value);
    if (token_.text.empty() || error != std::errc() || stop != end || value != value) {
      return Expected(what);
    }
    Next();
    return ConditionValue(value);
  }

  absl::StatusOr<ConditionValue> ParseText() {
    const bool quoted = token_.text == "\"";
    ASSIGN_OR_RETURN(const std::string_view text, Text());
    if (!quoted && (text.empty() || !IsConditionText(text.front()))) return Expected("a name");
    ConditionValue value = std::string(text);
    Next();
    return value;
  }

  // Takes into the token what belongs to a name, or to a number that is not whole.
  void Widen() {
    if (token_.text.empty() || !IsConditionText(token_.text.front())) return;
    while (end_ < text_.size() && IsConditionText(text_[end_])) ++end_;
    token_.text = text_.substr(token_.at, end_ - token_.at);
  }

  std::string FieldNames() const {
    std::vector<std::string_view> names;
    for (const ConditionField& field : fields_) names.push_back(field.name);
    return ListInWords(names, "or");
  }

  const std::string_view name_;
  const std::string_view text_;
  const ConditionFields& fields_;
  size_t end_ = 0;  // of token_
  Token token_;
  int depth_ = 0;
};

std::string_view SignOf(Comparison comparison) {
  constexpr std::array<std::string_view, 7> kSigns = {"=", "!=", "<", "<=", ">", ">=", "in"};
  return kSigns[static_cast<size_t>(comparison)];
}

std::string FormatValue(const ConditionField& field, const ConditionValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return field.type == ValueType::kWord ? std::string(field.words[static_cast<size_t>(*whole)])
                                          : absl::StrCat(*whole);
  }
  if (const auto* real = std::get_if<double>(&value)) return absl::StrCat(*real);
  const std::string& text = std::get<std::string>(value);
  const bool stands_alone = !text.empty() && std::all_of(text.begin(), text.end(), IsConditionText);
  return stands_alone ? text : absl::StrCat("\"", text, "\"");
}

std::string FormatComparison(const Condition& condition, const ConditionFields& fields) {
  const ConditionField& field = fields[condition.field];
  std::string text(field.name);
  text.append(" ").append(SignOf(condition.comparison)).append(" ");
  if (condition.comparison != Comparison::kIn) {
    return text + FormatValue(field, condition.values.front());
  }
  const char* separator = "(";
  for (const ConditionValue& value : condition.values) {
    text.append(separator).append(FormatValue(field, value));
    separator = ", ";
  }
  return text + ")";
}

// A part of a larger condition of the form `whole`. The part is in parentheses only if it needs
// them, so that a text at the deepest accepted nesting can be parsed again.
std::string FormatPart(const Condition& part, ConditionForm whole, const ConditionFields& fields) {
  const bool joins = part.form == ConditionForm::kAll || part.form == ConditionForm::kAny;
  const bool binds_closer = part.form == ConditionForm::kAll && whole == ConditionForm::kAny;
  const std::string text = FormatCondition(part, fields);
  return joins && !binds_closer ? "(" + text + ")" : text;
}

}  // namespace

bool IsConditionText(char c) {
  return IsWord(c) || std::string_view(".-+:/@").find(c) != std::string_view::npos;
}

absl::StatusOr<Condition> ParseCondition(std::string_view name, std::string_view text,
                                         const ConditionFields& fields) {
  return Parser(name, text, fields).Parse();
}

absl::StatusOr<Condition> ParseValues(std::string_view name, std::string_view text,
                                      const ConditionFields& fields) {
  return Parser(name, text, fields).ParseValues();
}

std::string FormatCondition(const Condition& condition, const ConditionFields& fields) {
  if (condition.form == ConditionForm::kCompare) return FormatComparison(condition, fields);
  if (condition.form == ConditionForm::kNot) {
    return "not " + FormatPart(condition.parts.front(), condition.form, fields);
  }
  const std::string_view join = condition.form == ConditionForm::kAll ? " and " : " or ";
  std::string text;
  for (const Condition& part : condition.parts) {
    if (!text.empty()) text.append(join);
    text.append(FormatPart(part, condition.form, fields));
  }
  return text;
}

}  // namespace meshwright::planner
