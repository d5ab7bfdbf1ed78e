#include "tools/cli/io/table.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace meshwright::cli {
namespace {

constexpr int64_t kGap = 2;             // between columns
constexpr int64_t kNarrowestCell = 10;  // a window narrower than this gets longer lines

// True for "12", "-0.5 %", "1,024", "3.2 GiB", and "-" for none.
bool IsNumber(const std::string& cell) {
  const size_t first = cell.find_first_not_of("+-");
  if (first == std::string::npos) return true;
  return first <= 1 && absl::ascii_isdigit(static_cast<unsigned char>(cell[first])) &&
         std::count(cell.begin(), cell.end(), ' ') <= 1;
}

std::string Spaces(int64_t count) { return std::string(static_cast<size_t>(count), ' '); }

// Splits the text into pieces of at most `width` columns, after a space or a separator of a
// layout's words where there is one.
std::vector<std::string> Pieces(std::string text, int64_t width) {
  std::vector<std::string> pieces;
  while (DisplayWidth(text) > width) {
    const std::string most = CutToWidth(text, width);
    const size_t mark = most.find_last_of(" .,;/");
    const size_t cut = mark == std::string::npos ? most.size() : mark + 1;
    pieces.push_back(text.substr(0, cut));
    text.erase(0, cut);
  }
  pieces.push_back(std::move(text));
  return pieces;
}

}  // namespace

bool Table::StandsRight(size_t column) const {
  return rows_.size() > 1 && std::all_of(rows_.begin() + 1, rows_.end(),
                                         [&](const auto& row) { return IsNumber(row[column]); });
}

std::vector<int64_t> Table::Widths() const {
  std::vector<int64_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  return widths;
}

std::vector<Table::Span> Table::Fold(std::vector<int64_t>& widths, int64_t columns) const {
  std::vector<Span> spans = {{0, 0}};
  int64_t used = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (columns > 0) widths[i] = std::min(widths[i], std::max(columns - kGap, kNarrowestCell));
    if (columns > 0 && i > 0 && used + kGap + widths[i] > columns) {
      spans.push_back({i, i});
      used = 0;
    }
    // Lines after the first are indented by a gap too.
    used += widths[i] + (i == 0 ? 0 : kGap);
    spans.back().end = i + 1;
  }
  return spans;
}

std::string Table::Cell(size_t row, size_t column, const std::string& text, int64_t width,
                        std::ostream& out) const {
  const std::string pad = Spaces(width - DisplayWidth(text));
  const auto style = styles_.find(column);
  const std::string styled = row == 0                 ? Styled(out, Style::kHeading, text)
                             : style == styles_.end() ? text
                                                      : Styled(out, style->second(text), text);
  return StandsRight(column) ? pad + styled : styled + pad;
}

void Table::PrintSpan(size_t row, Span span, const std::vector<int64_t>& widths, int64_t indent,
                      std::ostream& out) const {
  std::vector<std::vector<std::string>> pieces;
  size_t lines = 1;
  for (size_t i = span.begin; i < span.end; ++i) {
    pieces.push_back(Pieces(rows_[row][i], widths[i]));
    lines = std::max(lines, pieces.back().size());
  }
  for (size_t n = 0; n < lines; ++n) {
    std::string line = Spaces(n == 0 ? indent : std::max(indent, kGap));
    for (size_t i = span.begin; i < span.end; ++i) {
      const std::vector<std::string>& cell = pieces[i - span.begin];
      if (i > span.begin) line += Spaces(kGap);
      line += Cell(row, i, n < cell.size() ? cell[n] : "", widths[i], out);
    }
    absl::StripTrailingAsciiWhitespace(&line);
    out << line << '\n';
  }
}

void Table::Print(std::ostream& out) const {
  const Terminal& terminal = TerminalOf(out);
  std::vector<int64_t> widths = Widths();
  const std::vector<Span> spans = Fold(widths, terminal.folds_tables ? terminal.columns() : 0);
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (const Span& span : spans) {
      PrintSpan(row, span, widths, span.begin == 0 ? 0 : kGap, out);
    }
  }
}

}  // namespace meshwright::cli
