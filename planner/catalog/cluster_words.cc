#include "planner/catalog/cluster_words.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/cluster_names.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

// The share of an Ethernet's rate that large messages reach, and the seconds that the host's
// network stack adds to a hop of a ring. Both are chosen, between plain TCP and RDMA.
constexpr double kEthernetEfficiency = 0.7;
constexpr double kEthernetHopS = 2e-5;

// Returns an error about a part of the text.
absl::Status WordsError(std::string_view text, std::string_view part, std::string_view problem) {
  const std::string words =
      absl::StrJoin(kClusterWords, ", ", [](std::string* out, const ClusterWord& word) {
        absl::StrAppend(out, AbslView(word.name), " (", AbslView(word.covers), ")");
      });
  return FieldError("cluster", text,
                    absl::StrCat("'", AbslView(part), "' in it ", AbslView(problem),
                                 "; must be NAME:DEVICESxNODES,WORD=AMOUNT, such as "
                                 "h100:8x4,ib=200Gb; the words are ",
                                 words));
}

// Returns the problem with a word that is not in the table, with the word that may be meant.
std::string UnknownWord(std::string_view word) {
  const std::string named = absl::StrCat(" ", absl::AsciiStrToLower(AbslView(word)), " ");
  std::vector<std::string> names;
  for (const ClusterWord& known : kClusterWords) {
    if (absl::StrContains(AbslView(known.also), named)) {
      return absl::StrCat("is not known; ", AbslView(known.name), " is the word for it");
    }
    names.emplace_back(known.name);
  }
  return absl::StrCat("is not known, nearest: ", absl::StrJoin(NearestNames(word, names), ", "));
}

// An amount without its unit: a number, what G or T before the unit multiplies it with, and the
// unit's letter b or B.
struct Amount {
  double billions = 0.0;
  char unit = ' ';
};

// Reads a text such as 200Gb, 1.6Tbps, 25GB/s and 512gB. Returns nothing if it has another form.
std::optional<Amount> AmountOf(std::string_view text) {
  absl::string_view rest = AbslView(text);
  absl::ConsumeSuffix(&rest, "/s") || absl::ConsumeSuffix(&rest, "ps");
  absl::ConsumeSuffix(&rest, "it");
  if (rest.size() < 3) return std::nullopt;
  Amount amount;
  amount.unit = rest.back();
  const char prefix = absl::ascii_toupper(static_cast<unsigned char>(rest[rest.size() - 2]));
  rest.remove_suffix(2);
  if ((prefix != 'G' && prefix != 'T') || !absl::SimpleAtod(rest, &amount.billions) ||
      !(amount.billions > 0.0 && amount.billions <= 1e6)) {
    return std::nullopt;
  }
  if (prefix == 'T') amount.billions *= 1e3;
  return amount;
}

// Returns a rate in bytes per second.
absl::StatusOr<double> RateOf(std::string_view word, std::string_view text) {
  const std::optional<Amount> amount = AmountOf(text);
  if (amount && amount->unit == 'b') return amount->billions * 1e9 / 8.0;
  if (amount && amount->unit == 'B') return amount->billions * 1e9;
  return FieldError(
      word, text,
      "must be a rate above 0, one way, in Gb (gigabits per second; b is for bits) or GB "
      "(gigabytes per second), such as 200Gb or 25GB");
}

// Returns a size in bytes. Nobody states memory in bits, so the unit's case does not matter.
absl::StatusOr<double> SizeOf(std::string_view word, std::string_view text) {
  const std::optional<Amount> amount = AmountOf(text);
  if (amount && (amount->unit == 'b' || amount->unit == 'B')) {
    return std::round(amount->billions * 1e9);
  }
  return FieldError(word, text, "must be a size in GB or TB, such as 512GB");
}

absl::Status ReplaceWord(const ClusterWord& target, const json& own, json& merged) {
  const std::string word(target.name);
  const std::string key(target.key);
  const json value = std::move(merged[word]);
  merged.erase(word);
  if (!value.is_string()) {
    return FieldError(word, ShowJson(value), "must be a text with its unit, such as \"200Gb\"");
  }
  const bool is_size = target.amount == WordAmount::kSize;
  ASSIGN_OR_RETURN(double amount, is_size ? SizeOf(word, value.get<std::string>())
                                          : RateOf(word, value.get<std::string>()));
  const auto said = own.find(std::string(target.object));
  if (said != own.end() && said->contains(key)) {
    return FieldError(word, ShowJson(value),
                      absl::StrCat("is given as ", AbslView(target.object), ".", key,
                                   " too; must be given once"));
  }
  if (target.amount == WordAmount::kRateOfNode) {
    const json& devices = merged["devices_per_node"];
    if (!devices.is_number() || devices.get<double>() < 1.0) {
      return FieldError(word, ShowJson(value),
                        "is a rate of the whole node; needs devices_per_node too");
    }
    amount /= devices.get<double>();
  }
  json& object = merged[std::string(target.object)];
  if (!object.is_null() && !object.is_object()) {
    return FieldError(target.object, ShowJson(object), "must be an object");
  }
  object[key] = amount;
  if (word == "eth") {
    object["efficiency"] = kEthernetEfficiency;
    object["hop_latency_s"] = kEthernetHopS;
  }
  return absl::OkStatus();
}

absl::Status ReadCounts(std::string_view text, absl::string_view counts, json& cluster) {
  const std::vector<absl::string_view> parts = absl::StrSplit(counts, absl::MaxSplits('x', 1));
  int32_t devices = 0;
  int32_t nodes = 1;
  if (!absl::SimpleAtoi(parts[0], &devices) || devices < 1 ||
      (parts.size() > 1 && (!absl::SimpleAtoi(parts[1], &nodes) || nodes < 1))) {
    return WordsError(
        text, StdView(counts),
        "is not a number of devices per node, alone or followed by x and a number of nodes");
  }
  cluster["devices_per_node"] = devices;
  cluster["nodes"] = nodes;
  return absl::OkStatus();
}

}  // namespace

bool IsInClusterWords(std::string_view text) {
  const size_t end = text.find_first_of(":,");
  return end != std::string_view::npos && !ClusterPresetOf(text.substr(0, end)).empty();
}

absl::StatusOr<json> ClusterInWords(std::string_view text) {
  std::vector<absl::string_view> words = absl::StrSplit(AbslView(text), ',');
  for (absl::string_view& word : words) word = absl::StripAsciiWhitespace(word);
  const std::vector<absl::string_view> head = absl::StrSplit(words[0], absl::MaxSplits(':', 1));
  json cluster = {{"based_on", ClusterPresetOf(StdView(head[0]))}, {"name", std::string(text)}};
  if (head.size() > 1) RETURN_IF_ERROR(ReadCounts(text, head[1], cluster));
  for (size_t i = 1; i < words.size(); ++i) {
    const std::vector<absl::string_view> pair = absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    const auto known =
        std::find_if(kClusterWords.begin(), kClusterWords.end(),
                     [&](const ClusterWord& w) { return AbslView(w.name) == pair[0]; });
    const std::string word(pair[0]);
    if (known == kClusterWords.end()) return WordsError(text, word, UnknownWord(word));
    if (pair.size() < 2) return WordsError(text, word, "needs = and an amount");
    if (cluster.contains(word)) return WordsError(text, word, "is given twice");
    cluster[word] = std::string(pair[1]);
  }
  return cluster;
}

absl::Status ReplaceClusterWords(const json& own, json& merged) {
  if (own.contains("ib") && own.contains("eth")) {
    return FieldError(
        "eth", ShowJson(own["eth"]),
        "is given beside ib; must be only one of both, that of the network that the run uses");
  }
  for (const ClusterWord& word : kClusterWords) {
    if (own.contains(std::string(word.name))) RETURN_IF_ERROR(ReplaceWord(word, own, merged));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::planner
