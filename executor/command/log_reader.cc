#include "executor/command/log_reader.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/utf8.h"
#include "executor/command/log_figure.h"

namespace meshwright::command {
namespace {

// Bounds what one regular expression may cost.
constexpr int64_t kMostRegexMemory = int64_t{1} << 20;
constexpr double kMostSeconds = 1e6;
constexpr double kMostLoggedBytes = 1e15;
constexpr double kMostLoggedStep = 1e9;
constexpr size_t kMostRanKeys = 64;
constexpr size_t kMostRanBytes = 256;

const LogFigure* FindFigure(std::string_view name) {
  const auto* const found = std::find_if(kLogFigures.begin(), kLogFigures.end(),
                                         [&](const LogFigure& row) { return row.name == name; });
  return found == kLogFigures.end() ? nullptr : found;
}

bool IsTime(LoggedQuantity quantity) {
  return quantity == LoggedQuantity::kTime || quantity == LoggedQuantity::kTokenRate ||
         quantity == LoggedQuantity::kRankRate || quantity == LoggedQuantity::kSampleRate;
}

std::optional<double> Within(double value, double least, double most) {
  if (!(value >= least && value <= most)) return std::nullopt;
  return value;
}

std::optional<double> TimeOf(LoggedQuantity quantity, double value, const StepAmounts& amounts) {
  if (!(value > 0.0)) return std::nullopt;
  switch (quantity) {
    case LoggedQuantity::kTokenRate:
      return static_cast<double>(amounts.tokens) / value;
    case LoggedQuantity::kRankRate:
      return static_cast<double>(amounts.tokens) / (value * static_cast<double>(amounts.ranks));
    case LoggedQuantity::kSampleRate:
      return static_cast<double>(amounts.sequences) / value;
    default:
      return value;
  }
}

// Adds a figure to the line if the figure is possible.
void Take(LoggedQuantity quantity, double value, const StepAmounts& amounts, LoggedLine& line) {
  if (!std::isfinite(value)) return;
  if (quantity == LoggedQuantity::kLoss) {
    line.loss = value;
  } else if (quantity == LoggedQuantity::kStep) {
    if (const auto step = Within(value, 0.0, kMostLoggedStep)) {
      line.step = static_cast<int64_t>(*step);
    }
  } else if (quantity == LoggedQuantity::kPeak) {
    if (const auto bytes = Within(value, 0.0, kMostLoggedBytes)) {
      line.peak_bytes = std::max(line.peak_bytes.value_or(0), static_cast<int64_t>(*bytes));
    }
  } else if (const auto time_s = TimeOf(quantity, value, amounts);
             time_s && *time_s <= kMostSeconds) {
    line.step_s = time_s;
  }
}

// Returns the text without the sequences that set colours.
std::string WithoutColours(std::string_view text) {
  static const RE2* const colour = new RE2("\x1b\\[[0-9;]*m");
  std::string plain(text);
  RE2::GlobalReplace(&plain, *colour, "");
  return plain;
}

// Returns the text with null where Python's json module wrote a number that JSON lacks, so that the
// line's other figures can be read.
std::string WithoutNan(std::string text) {
  static const RE2* const not_finite = new RE2(R"(([:\[,]\s*)(?:NaN|-?Infinity)\b)");
  RE2::GlobalReplace(&text, *not_finite, "\\1null");
  return text;
}

std::string ShortText(const nlohmann::json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (value.is_boolean()) text = value.get<bool>() ? "1" : "0";
  return ValidUtf8(std::string_view(text).substr(0, kMostRanBytes));
}

}  // namespace

struct LogReader::Pattern {
  LogFigure figure;
  std::unique_ptr<RE2> regex;
};

LogReader::LogReader() = default;
LogReader::LogReader(LogReader&&) noexcept = default;
LogReader& LogReader::operator=(LogReader&&) noexcept = default;
LogReader::~LogReader() = default;

absl::StatusOr<LogReader> LogReader::Make(const LogFormat& format, const StepAmounts& amounts) {
  LogReader reader;
  reader.amounts_ = amounts;
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kMostRegexMemory);
  for (const auto& [name, text] : format.patterns) {
    const std::string field = absl::StrCat("log.", name);
    const LogFigure* const figure = FindFigure(name);
    if (figure == nullptr) {
      return FieldError(field, text,
                        absl::StrCat("is no figure of a log; must be one of ",
                                     absl::StrJoin(LogFigureNames(), ", ")));
    }
    auto regex = std::make_unique<RE2>(text, options);
    if (!regex->ok()) {
      return FieldError(field, text,
                        absl::StrCat("must be a regular expression: ", regex->error()));
    }
    if (regex->NumberOfCapturingGroups() != 1) {
      return FieldError(field, text, "must have one capturing group, around the number");
    }
    reader.has_times_ |= IsTime(figure->quantity);
    reader.patterns_.push_back({*figure, std::move(regex)});
  }
  return reader;
}

LoggedLine LogReader::ReadJson(std::string_view line) const {
  LoggedLine found;
  const absl::StatusOr<nlohmann::json> json =
      ParseJson("log", WithoutNan(std::string(line)), kMaxLineBytes);
  if (!json.ok() || !json->is_object()) return found;
  for (const LogFigure& figure : kLogFigures) {
    const auto value = json->find(figure.name);
    if (value == json->end() || !value->is_number()) continue;
    Take(figure.quantity, value->get<double>() * figure.factor, amounts_, found);
  }
  found.is_step = found.step.has_value() && found.step_s.has_value();
  const auto ran = json->find("ran");
  if (ran == json->end() || !ran->is_object()) return found;
  for (auto entry = ran->begin(); entry != ran->end() && found.ran.size() < kMostRanKeys; ++entry) {
    found.ran.emplace(ValidUtf8(std::string_view(entry.key()).substr(0, kMostRanBytes)),
                      ShortText(*entry));
  }
  return found;
}

LoggedLine LogReader::Read(std::string_view line) const {
  const std::string text = WithoutColours(line.substr(0, kMaxLineBytes));
  if (!text.empty() && text[0] == '{') {
    LoggedLine found = ReadJson(text);
    if (found.is_step || found.peak_bytes || !found.ran.empty()) return found;
  }
  LoggedLine found;
  for (const Pattern& pattern : patterns_) {
    std::string digits;
    double value = 0.0;
    if (!RE2::PartialMatch(text, *pattern.regex, &digits)) continue;
    digits = absl::StrReplaceAll(digits, {{",", ""}});
    if (!absl::SimpleAtod(digits, &value)) continue;
    Take(pattern.figure.quantity, value * pattern.figure.factor, amounts_, found);
  }
  found.is_step = has_times_ ? found.step_s.has_value() : found.step || found.loss;
  return found;
}

}  // namespace meshwright::command
