#include "planner/block/kept.h"

namespace meshwright::planner {
namespace {

template <typename Counts>
int64_t Sum(const OperatorList& operators, const Counts& counts) {
  int64_t bytes = 0;
  for (const Operator& op : operators) {
    for (const SavedTensor& saved : op.saves) {
      if (counts(saved)) bytes += saved.bytes;
    }
  }
  return bytes;
}

}  // namespace

int64_t KeptBytes(const OperatorList& operators) {
  return Sum(operators, [](const SavedTensor&) { return true; });
}

int64_t KeptBytes(const OperatorList& operators, KeptTensor tensor) {
  return Sum(operators, [tensor](const SavedTensor& saved) { return saved.tensor == tensor; });
}

int64_t KeptBytes(const OperatorList& operators, KeptTensor first, KeptTensor last) {
  return Sum(operators, [=](const SavedTensor& saved) {
    return first <= saved.tensor && saved.tensor <= last;
  });
}

}  // namespace meshwright::planner
