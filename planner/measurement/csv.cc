#include "planner/measurement/csv.h"

#include <algorithm>
#include <utility>

namespace meshwright::planner {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ == text_.size(); }

  CsvRecord Record() {
    CsvRecord record{line_, {}};
    while (true) {
      record.cells.push_back(Cell());
      if (AtEnd() || text_[at_] != ',') break;
      ++at_;
    }
    EndLine();
    return record;
  }

 private:
  bool AtCellEnd() const {
    return AtEnd() || text_[at_] == ',' || text_[at_] == '\n' || text_[at_] == '\r';
  }

  // Goes past the end of a line of any kind, where it stands before one.
  void EndLine() {
    if (AtEnd()) return;
    at_ += text_.substr(at_, 2) == "\r\n" ? 2 : 1;
    ++line_;
  }

  std::string Cell() {
    while (!AtCellEnd() && IsBlank(text_[at_])) ++at_;
    std::string cell;
    if (!AtEnd() && text_[at_] == '"' && ClosingQuote(at_ + 1) != std::string_view::npos) {
      cell = Quoted();
    }
    const size_t quoted = cell.size();
    while (!AtCellEnd()) cell += text_[at_++];
    while (cell.size() > quoted && IsBlank(cell.back())) cell.pop_back();
    return cell;
  }

  // The quote that closes what begins at `from`: a doubled one stands for itself.
  size_t ClosingQuote(size_t from) const {
    size_t at = text_.find('"', from);
    while (at != std::string_view::npos && text_.substr(at, 2) == "\"\"") {
      at = text_.find('"', at + 2);
    }
    return at;
  }

  std::string Quoted() {
    const size_t end = ClosingQuote(at_ + 1);
    std::string inside;
    for (++at_; at_ < end; ++at_) {
      const char c = text_[at_];
      if (c == '"') ++at_;  // the first of two
      const bool ends_line = c == '\n' || (c == '\r' && text_[at_ + 1] != '\n');
      if (ends_line) ++line_;
      inside += c;
    }
    at_ = end + 1;
    return inside;
  }

  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace

std::vector<CsvRecord> ParseCsv(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<CsvRecord> records;
  CsvReader reader(text);
  while (!reader.AtEnd()) {
    CsvRecord record = reader.Record();
    const auto& cells = record.cells;
    const bool empty = std::all_of(cells.begin(), cells.end(),
                                   [](const std::string& cell) { return cell.empty(); });
    if (!empty) records.push_back(std::move(record));
  }
  return records;
}

}  // namespace meshwright::planner
