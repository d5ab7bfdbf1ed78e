// NoteBlocks() parses the notes of a command, which its help shows below the flags, and
// FormatNotes() formats them.
//
// Blank lines separate paragraphs. A line that begins with spaces is an entry: a term, two spaces
// or more, and its meaning. The meaning continues on lines with a deeper indentation.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace meshwright::command_line {

struct NoteBlock {
  std::string term;  // empty in a paragraph
  std::string text;  // without line breaks
};

// Returns the paragraphs and entries of `notes`, in their order.
std::vector<NoteBlock> NoteBlocks(const std::string& notes);

// Breaks `text` at spaces into lines of at most `width` characters. A word longer than `width` gets
// a separate line. Returns at least one line.
std::vector<std::string> Wrapped(const std::string& text, size_t width);
// Joins `pieces` with spaces into lines of at most `width` characters. A piece is never broken; a
// piece longer than `width` gets a separate line. Returns at least one line.
std::vector<std::string> Wrapped(const std::vector<std::string>& pieces, size_t width);

// Returns "  term      text", with the text in as many lines as needed. If the term is too wide for
// its column, the text begins on the next line.
std::string TwoColumns(const std::string& term, const std::string& text);

// Returns the paragraphs and entries of `notes` in lines of at most 80 columns.
std::string FormatNotes(const std::string& notes);

}  // namespace meshwright::command_line
