#include "base/text/nearest.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/text/string_view.h"

namespace meshwright {
namespace {

constexpr size_t kShown = 3;

// Levenshtein distance.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above + 1, row[j - 1] + 1});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// The ways in which a typed name may relate to a known name, the likeliest first.
enum class Likeness { kBeginsWithIt, kIsItsShortForm, kSameFamily, kSharesAWord, kOther };

// Shorter beginnings say little: "h100" and "h200" are no family.
constexpr size_t kLeastFamilyLetters = 3;

// The letters before anything else, in lower case: "gemma" of "Gemma-3-27B".
std::string FamilyOf(std::string_view name) {
  const auto end = std::find_if_not(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalpha(static_cast<unsigned char>(c));
  });
  return absl::AsciiStrToLower(AbslView(name.substr(0, end - name.begin())));
}

// Lower-case words between dashes, underscores and dots.
std::vector<std::string> WordsOf(std::string_view name) {
  const std::string lower = absl::AsciiStrToLower(AbslView(name));
  return absl::StrSplit(lower, absl::ByAnyChar("-_."), absl::SkipEmpty());
}

// Returns whether each word of `name` begins with its counterpart in `candidate`, up to the end of
// `candidate`: "sequence-length" of "seq-len", "global-batch-size" of "global-batch".
bool IsLongFormOf(const std::vector<std::string>& name, const std::vector<std::string>& candidate) {
  if (candidate.empty() || name.size() < candidate.size()) return false;
  return std::equal(
      candidate.begin(), candidate.end(), name.begin(),
      [](const std::string& part, const std::string& whole) { return whole.rfind(part, 0) == 0; });
}

Likeness LikenessOf(std::string_view name, const std::string& candidate) {
  if (name.empty()) return Likeness::kOther;
  if (absl::StartsWithIgnoreCase(candidate, AbslView(name))) {
    return Likeness::kBeginsWithIt;
  }
  const std::vector<std::string> words = WordsOf(name);
  const std::vector<std::string> known = WordsOf(candidate);
  if (IsLongFormOf(words, known)) return Likeness::kIsItsShortForm;
  const std::string family = FamilyOf(name);
  if (family.size() >= kLeastFamilyLetters && family.size() < name.size() &&
      family == FamilyOf(candidate)) {
    return Likeness::kSameFamily;
  }
  const bool shares =
      words.size() > 1 && std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return word.size() > 2 && std::find(known.begin(), known.end(), word) != known.end();
      });
  return shares ? Likeness::kSharesAWord : Likeness::kOther;
}

struct Candidate {
  Likeness likeness;
  size_t same_start;  // letters, within a family: a generation is nearer than a size
  size_t distance;
  std::string name;
};

size_t SameStart(const std::string& a, const std::string& b) {
  const size_t shorter = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + shorter, b.begin()).first - a.begin();
}

// Returns whether `candidate` is much less likely than the likeliest one.
bool IsFarBehind(const Candidate& candidate, const Candidate& likeliest) {
  if (likeliest.likeness != Likeness::kOther) return candidate.likeness != likeliest.likeness;
  return candidate.distance > 2 * std::max<size_t>(likeliest.distance, 1);
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view name,
                                      const std::vector<std::string>& known) {
  const std::string lower = absl::AsciiStrToLower(AbslView(name));
  std::vector<Candidate> candidates;
  candidates.reserve(known.size());
  for (const std::string& candidate : known) {
    const std::string other = absl::AsciiStrToLower(candidate);
    const Likeness likeness = LikenessOf(name, candidate);
    const size_t same_start = likeness == Likeness::kSameFamily ? SameStart(lower, other) : 0;
    candidates.push_back({likeness, same_start, EditDistance(lower, other), candidate});
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.likeness, b.same_start, a.distance) <
           std::tuple(b.likeness, a.same_start, b.distance);
  });
  std::vector<std::string> nearest;
  for (const Candidate& candidate : candidates) {
    if (nearest.size() == kShown || IsFarBehind(candidate, candidates.front())) break;
    nearest.push_back(candidate.name);
  }
  return nearest;
}

absl::Status UnknownName(std::string_view what, std::string_view name,
                         const std::vector<std::string>& known) {
  std::string message(what);
  message.append(" '").append(name).append("' is not known; nearest: ");
  absl::StrAppend(&message, absl::StrJoin(NearestNames(name, known), ", "));
  return absl::NotFoundError(message);
}

}  // namespace meshwright
