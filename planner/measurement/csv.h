// Reads comma-separated values as table programs write them (RFC 4180). Lines end in LF, CRLF or
// CR. A cell in double quotes may hold commas, line ends and doubled quotes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

struct CsvRecord {
  int64_t line = 0;  // line on which the record begins, from 1
  std::vector<std::string> cells;
};

// Returns the records of `text`; a byte order mark at its beginning is skipped. Blanks around a
// cell are left out, but not those inside its quotes. A quote that is never closed is an ordinary
// character. Records whose cells are all empty are left out.
std::vector<CsvRecord> ParseCsv(std::string_view text);

}  // namespace meshwright::planner
