#include "planner/catalog/json_position.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace meshwright {
namespace {

using nlohmann::json;

// Takes everything and remembers where the parser gave up.
class ErrorFinder final : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    characters_read = position;
    return false;
  }

  std::optional<std::size_t> characters_read;  // up to and with the one that can't stand there
};

}  // namespace

std::string JsonErrorPosition(std::string_view text) {
  ErrorFinder finder;
  json::sax_parse(text, &finder);
  if (!finder.characters_read) return "";
  const size_t at = std::min(text.size(), std::max<size_t>(*finder.characters_read, 1) - 1);
  const std::string_view before = text.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t line_start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return absl::StrCat("line ", lines + 1, ", column ", at - line_start + 1);
}

}  // namespace meshwright
