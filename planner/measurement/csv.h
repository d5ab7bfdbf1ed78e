// Comma-separated values as table programs write them (RFC 4180): lines end in LF, CRLF or CR, and
// a cell in double quotes may hold commas, line ends and doubled quotes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

struct CsvRecord {
  int64_t line = 0;  // where it begins, from 1
  std::vector<std::string> cells;
};

// The records of `text`, after a byte order mark if there is one. Blanks around a cell are no part
// of it unless they stand in its quotes. A quote that is never closed is a letter like others.
// Records whose cells are all empty are left out.
std::vector<CsvRecord> ParseCsv(std::string_view text);

}  // namespace meshwright::planner
