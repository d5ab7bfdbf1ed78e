#include "tests/executor/gang_cases.h"

namespace meshwright::trial {
namespace {

constexpr ModelVariant kGangExperts = {.experts = 8, .top_k = 3, .balanced = true};
constexpr ModelVariant kRoutedGangExperts = {.experts = 8, .top_k = 3};

}  // namespace

std::vector<GangCase> GangCases() {
  return {{{"tp4.pp1.dp1", {.kv_heads = 4}}},
          {{"tp2.pp2.dp1.sp1"}},
          {{"tp1.pp4.dp1"}},
          {{"tp1.pp4.dp1"}, {2, 1, 1}},
          {{"tp1.pp2.dp2.vpp2.sched=interleaved"}},
          {{"tp1.cp4.pp1.dp1"}},
          {{"tp1.cp2.pp1.dp2"}},
          {{"tp1.pp1.dp4.zero1"}},
          {{"tp1.pp1.dp4.zero2"}, {1, 3}},
          {{"tp1.pp1.dp4.zero3"}},
          {{"tp1.pp1.dp4.zero3"}, {2, 1, 1}},
          {{"tp1.pp1.dp4.ep4", kGangExperts}},
          {{"tp1.pp1.dp4.ep4", kRoutedGangExperts}, {2, 1, 1}}};
}

}  // namespace meshwright::trial
