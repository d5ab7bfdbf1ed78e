// Where a text stops being JSON.
#pragma once

#include <string>
#include <string_view>

namespace meshwright {

// "line 3, column 14" of the first character that can't stand there; empty for valid JSON.
std::string JsonErrorPosition(std::string_view text);

}  // namespace meshwright
