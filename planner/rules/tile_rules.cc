#include "planner/rules/tile_rules.h"

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

const char* WidthName(TiledWidth width) {
  switch (width) {
    case TiledWidth::kHidden:
      return "hidden";
    case TiledWidth::kQueries:
      return "heads * head_dim";
    case TiledWidth::kKeys:
      return "key/value heads * head_dim";
    case TiledWidth::kFfn:
      return "FFN width";
    case TiledWidth::kExpert:
      return "expert width";
  }
  return "";
}

}  // namespace

std::string DescribeWidthTiles(const Operands& operands) {
  const auto [what, width, ranks] = operands.more;
  const auto kind = static_cast<TiledWidth>(what);
  const char* axis = kind == TiledWidth::kExpert ? "etp" : "tp";
  const std::string on_rank =
      ranks == 1 ? "" : absl::StrCat(" over ", axis, ranks, " is ", operands.value, ", which");
  return absl::StrCat(WidthName(kind), " = ", width, on_rank,
                      " doesn't split into whole fp8 scaling tiles; must be a multiple of ",
                      operands.divisor);
}

std::string DescribeTokenTiles(const Operands& operands) {
  const auto [what, ranks, unused] = operands.more;
  const std::string must = absl::StrCat(
      " don't split into whole fp8 scaling tiles; must be a multiple of ", operands.divisor);
  switch (static_cast<TiledTokens>(what)) {
    case TiledTokens::kSequence:
      return absl::StrCat("sequences of ", operands.value, " tokens", must);
    case TiledTokens::kContextBlock:
      return absl::StrCat("the ", operands.value, " tokens of each block under cp", ranks, must,
                          ", so the sequence length must be a multiple of ",
                          2 * ranks * operands.divisor);
    case TiledTokens::kShare:
      break;
  }
  return absl::StrCat("the ", operands.value, " tokens that each rank holds under tp", ranks,
                      " with sp1", must);
}

std::string DescribeNarrowedPart(const Operands& operands) {
  const std::string_view name = PrecisionName(static_cast<Precision>(operands.value));
  return absl::StrCat("the worker can't run ", AbslView(name),
                      " in a model with latent_attention; it runs bf16, fp32 or fp64 there");
}

}  // namespace meshwright::planner
