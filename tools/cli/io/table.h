// Table prints a table with a header, for people.
//
// Columns are as wide as their widest cell, and columns of numbers are right-aligned. On a terminal
// that is too narrow, rows and header fold: their cells flow over several lines, and nothing is
// left out. If the output is not a terminal, or Terminal::folds_tables is false, a row is one line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tools/cli/io/terminal.h"

namespace meshwright::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  // Adds a row. REQUIRES: it has as many cells as the header.
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Colours the cells of a column, counted from 0, if the output has colours.
  void StyleColumn(size_t column, std::function<Style(const std::string&)> style) {
    styles_[column] = std::move(style);
  }
  void Print(std::ostream& out) const;

 private:
  // Columns that share a line, from `begin` to before `end`.
  struct Span {
    size_t begin = 0;
    size_t end = 0;
  };
  bool StandsRight(size_t column) const;  // whether all of its cells are numbers
  std::vector<int64_t> Widths() const;
  std::vector<Span> Fold(std::vector<int64_t>& widths, int64_t columns) const;
  void PrintSpan(size_t row, Span span, const std::vector<int64_t>& widths, int64_t indent,
                 std::ostream& out) const;
  std::string Cell(size_t row, size_t column, const std::string& text, int64_t width,
                   std::ostream& out) const;

  std::vector<std::vector<std::string>> rows_;
  std::map<size_t, std::function<Style(const std::string&)>> styles_;
};

}  // namespace meshwright::cli
