#include "planner/scaling/limits.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/block/parameters.h"
#include "planner/search/best_layout.h"
#include "planner/search/space.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kMostSequence = int64_t{1} << 24;  // the most that Validate() accepts
constexpr int64_t kMostDepth = 4096;
// The longest pattern of layers that a model is assumed to repeat.
constexpr int64_t kMostPeriod = 16;

// Fields whose errors concern one value rather than the whole question.
constexpr std::array<std::string_view, 6> kAboutValue = {
    "gpus", "global_batch", "where", "layout", "seq_len", "num_hidden_layers"};

absl::StatusOr<BestLayout> ProbeLayout(const SearchRequest& request, const Layout& layout) {
  BestLayout probe;
  const absl::StatusOr<Estimate> estimate = CheckAndEstimate(request, layout);
  if (!estimate.ok()) {
    if (!IsAbout(estimate.status(), kAboutValue)) return estimate.status();
    probe.refused = estimate.status();
    return probe;
  }
  const int64_t over = estimate->memory.total_bytes() - AllowedBytes(request);
  if (over > 0) {
    probe.over_bytes = over;
  } else {
    probe.best = RankedLayout{layout, *estimate};
  }
  return probe;
}

// The values of one kind in ascending order: values at even steps, or the listed values.
struct Values {
  int64_t first = 1;
  int64_t step = 1;
  int64_t count = 0;
  std::vector<int64_t> listed = {};

  int64_t At(int64_t place) const {
    return listed.empty() ? first + step * place : listed[static_cast<size_t>(place)];
  }
  // Returns the index of the largest value up to `value`; 0 if all are larger.
  int64_t PlaceOf(int64_t value) const {
    return std::clamp<int64_t>((value - first) / step, 0, count - 1);
  }
};

// Returns the steps through `asked` up to `most`.
Values StepsThrough(int64_t asked, int64_t step, int64_t most) {
  const int64_t first = asked % step == 0 ? step : asked % step;
  return {.first = first, .step = step, .count = (most - first) / step + 1};
}

// Returns the indices that are tried first: all indices of a list, or the doublings and halvings of
// `asked` among even steps.
std::vector<int64_t> CoarsePlaces(const Values& values, int64_t asked) {
  std::vector<int64_t> places;
  if (!values.listed.empty()) {
    places.resize(values.listed.size());
    std::iota(places.begin(), places.end(), 0);
    return places;
  }
  for (int64_t value = asked; value > values.first; value /= 2) {
    places.push_back(values.PlaceOf(value));
  }
  for (int64_t value = asked; value <= values.At(values.count - 1); value *= 2) {
    places.push_back(values.PlaceOf(value));
  }
  places.push_back(0);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

// Returns, by layer, the index of its group.
std::vector<size_t> GroupsByLayer(const ModelSpec& model) {
  std::vector<size_t> groups;
  for (size_t group = 0; group < model.groups.size(); ++group) {
    groups.insert(groups.end(), static_cast<size_t>(model.groups[group].count), group);
  }
  return groups;
}

// Returns the shortest pattern that the second half of the layers repeats, or nullopt if it is
// longer than kMostPeriod. The first layers of many models are of a kind of their own.
std::optional<int64_t> PeriodOf(const ModelSpec& model, const std::vector<size_t>& groups) {
  const auto layers = static_cast<int64_t>(groups.size());
  const auto layer = [&](int64_t number) -> const LayerGroup& {
    return model.groups[groups[static_cast<size_t>(number)]];
  };
  for (int64_t period = 1; period <= std::min(kMostPeriod, (layers + 1) / 2); ++period) {
    int64_t number = layers - 1;
    while (number >= std::max(period, layers / 2) &&
           layer(number).SameShape(layer(number - period))) {
      --number;
    }
    if (number < std::max(period, layers / 2)) return period;
  }
  return std::nullopt;
}

// Each value asks the same question with only this value changed.
class LimitSearch {
 public:
  LimitSearch(const SearchRequest& request, const std::optional<Layout>& layout)
      : request_(request), layout_(layout) {
    request_.mine.reset();
  }

  absl::StatusOr<Limit> Find(LimitKind kind) {
    const Values values = ValuesOf(kind);
    Limit limit;
    limit.kind = kind;
    limit.asked = AskedOf(kind);
    int64_t low = -1;  // the largest index that fits
    int64_t high = values.count;
    const std::vector<int64_t> coarse = CoarsePlaces(values, limit.asked.value_or(1));
    for (auto place = coarse.rbegin(); place != coarse.rend() && low < 0; ++place) {
      ASSIGN_OR_RETURN(const bool fits, Try(values.At(*place), limit));
      (fits ? low : high) = *place;
    }
    while (low + 1 < high) {
      const int64_t place = (low + high) / 2;
      ASSIGN_OR_RETURN(const bool fits, Try(values.At(place), limit));
      (fits ? low : high) = place;
    }
    if (kind == LimitKind::kSequence && !limit.next && request_.model.learned_positions > 0) {
      limit.problem = absl::StrCat("the model has learned ", request_.model.learned_positions,
                                   " positions and no more");
    }
    if (limit.largest) {
      limit.parameters = Parameters(
          kind == LimitKind::kDepth ? WithDepth(request_.model, *limit.largest) : request_.model);
    }
    return limit;
  }

 private:
  Values ValuesOf(LimitKind kind) const {
    const TrainingSpec& training = request_.training;
    if (kind == LimitKind::kSequence) {
      const int64_t learned = request_.model.learned_positions;
      return StepsThrough(training.seq_len, std::gcd(training.seq_len, kMostSequenceStep),
                          learned > 0 ? learned : kMostSequence);
    }
    if (kind == LimitKind::kDepth) {
      const int64_t step = layout_ ? int64_t{layout_->pp} * layout_->vpp : kDepthStep;
      const int64_t period = PeriodOf(request_.model, GroupsByLayer(request_.model)).value_or(1);
      return StepsThrough(request_.model.layers(), std::lcm(step, period), kMostDepth);
    }
    Values values;
    const int64_t batch = layout_ ? training.global_batch / layout_->dp : training.global_batch;
    for (int64_t size = 1; size <= kMaxMicroBatch; ++size) {
      if (batch % size == 0) values.listed.push_back(size);
    }
    values.count = static_cast<int64_t>(values.listed.size());
    return values;
  }

  std::optional<int64_t> AskedOf(LimitKind kind) const {
    if (kind == LimitKind::kSequence) return request_.training.seq_len;
    if (kind == LimitKind::kDepth) return request_.model.layers();
    return layout_ ? std::optional<int64_t>(layout_->micro_batch) : std::nullopt;
  }

  // Records in `limit` whether something fits at the value.
  absl::StatusOr<bool> Try(int64_t value, Limit& limit) const {
    ASSIGN_OR_RETURN(BestLayout probe, ProbeAt(limit.kind, value));
    if (probe.best) {
      limit.largest = value;
      limit.best = probe.best;
      return true;
    }
    limit.next = value;
    limit.over_bytes = probe.over_bytes;
    limit.problem = std::string(probe.refused.message());
    return false;
  }

  absl::StatusOr<BestLayout> ProbeAt(LimitKind kind, int64_t value) const {
    SearchRequest at = request_;
    std::optional<Layout> layout = layout_;
    if (kind == LimitKind::kSequence) {
      at.training.seq_len = value;
      at.training.media_tokens = std::min(at.training.media_tokens, value);
    } else if (kind == LimitKind::kDepth) {
      at.model = WithDepth(request_.model, value);
    } else if (layout) {
      layout->micro_batch = static_cast<int32_t>(value);
    } else {
      ASSIGN_OR_RETURN(at, Narrowed(std::move(at), absl::StrCat("mb = ", value)));
    }
    return layout ? ProbeLayout(at, *layout) : FindBest(at, kAboutValue);
  }

  SearchRequest request_;
  const std::optional<Layout> layout_;
};

}  // namespace

ModelSpec WithDepth(const ModelSpec& model, int64_t layers) {
  std::vector<size_t> groups = GroupsByLayer(model);
  const auto period = static_cast<size_t>(PeriodOf(model, groups).value_or(model.layers()));
  while (static_cast<int64_t>(groups.size()) < layers) {
    groups.push_back(groups[groups.size() - period]);
  }
  groups.resize(static_cast<size_t>(layers));
  ModelSpec deep = model;
  deep.groups.clear();
  for (const size_t group : groups) {
    const LayerGroup& shape = model.groups[group];
    if (deep.groups.empty() || !deep.groups.back().SameShape(shape)) {
      deep.groups.push_back(shape);
      deep.groups.back().count = 0;
    }
    ++deep.groups.back().count;
  }
  return deep;
}

absl::StatusOr<std::vector<Limit>> FindLimits(const SearchRequest& request,
                                              const std::optional<Layout>& layout) {
  RETURN_IF_ERROR(ValidateProblem(request));
  LimitSearch search(request, layout);
  std::vector<Limit> limits;
  for (const auto& [kind, name] : kLimitKindNames) {
    ASSIGN_OR_RETURN(Limit limit, search.Find(kind));
    limits.push_back(std::move(limit));
  }
  return limits;
}

}  // namespace meshwright::planner
