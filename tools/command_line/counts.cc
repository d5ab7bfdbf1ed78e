#include "tools/command_line/counts.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/numbers.h"

namespace meshwright::command_line {
namespace {

// Every whole number up to here has a double.
constexpr double kMostCount = 9007199254740992.0;

double UnitOf(char letter) {
  constexpr double kKibi = 1024.0;
  if (letter == 'k' || letter == 'K') return kKibi;
  return letter == 'M' ? kKibi * kKibi : 1.0;
}

}  // namespace

std::string CountDigits(const std::string& typed) {
  if (typed.empty()) return typed;
  const double unit = UnitOf(typed.back());
  const bool has_unit = unit > 1.0;
  const bool has_exponent = typed.find_first_of("eE") != std::string::npos;
  if (!has_unit && !has_exponent) return typed;
  double number = 0.0;
  if (!absl::SimpleAtod(typed.substr(0, typed.size() - (has_unit ? 1 : 0)), &number)) return typed;
  number *= unit;
  if (!(std::abs(number) <= kMostCount) || number != std::trunc(number)) return typed;
  return std::to_string(static_cast<int64_t>(number));
}

CLI::Option* TakeCount(CLI::Option* option) {
  const auto expand = [](std::string& typed) {
    typed = CountDigits(typed);
    return std::string();
  };
  return option->transform(CLI::Validator(expand, ""));
}

}  // namespace meshwright::command_line
