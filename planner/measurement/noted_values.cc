#include "planner/measurement/noted_values.h"

#include <cstddef>
#include <string>

namespace meshwright::planner {
namespace {

constexpr std::string_view kBetweenWords = "; ";

bool BeginsWord(std::string_view text, size_t at) {
  return at == 0 || kBetweenWords.find(text[at - 1]) != std::string_view::npos;
}

}  // namespace

std::vector<std::string_view> NotedValues(std::string_view notes, std::string_view name) {
  const std::string word = std::string(name) + "=";
  std::vector<std::string_view> values;
  for (size_t at = notes.find(word); at != std::string_view::npos; at = notes.find(word, at + 1)) {
    if (!BeginsWord(notes, at)) continue;
    const std::string_view behind = notes.substr(at + word.size());
    values.push_back(behind.substr(0, behind.find_first_of(kBetweenWords)));
  }
  return values;
}

}  // namespace meshwright::planner
