#include "planner/drawing/timeline_svg.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "planner/drawing/svg.h"
#include "planner/drawing/ticks.h"

namespace meshwright::planner {
namespace {

constexpr double kTimelineLeft = 70.0;
constexpr double kTimelineTop = 76.0;
constexpr double kTimelinePlot = 1200.0;  // width of what is shown of the step
constexpr double kTimelineRow = 24.0;
constexpr double kTimelineBar = 20.0;
constexpr double kTimelineBottom = 34.0;
constexpr double kDigit = 6.0;       // width of a digit of a label
constexpr double kLegibleBar = 8.0;  // width at which a bar can be told from its neighbours
constexpr double kGapFrom = 4.0;     // width from which a gap stands between bars
constexpr double kWindowsApart = 40.0;
constexpr double kTicksPerPixel = 1.0 / 100.0;

struct Look {
  const char* style;
  const char* colour;
  const char* label;
};
constexpr std::array<Look, 7> kLooks = {{{"f", "#4e79a7", "forward"},
                                         {"b", "#59a14f", "backward"},
                                         {"i", "#76b7b2", "input gradient"},
                                         {"w", "#f28e2b", "weight gradient"},
                                         {"s", "#edc948", "head forward"},
                                         {"t", "#ff9da7", "head backward"},
                                         {"r", "#b07aa1", "gradient reduction"}}};
constexpr size_t kReduction = 6;

const Look& LookOf(ActionKind kind) { return kLooks[static_cast<size_t>(kind)]; }

std::string TimeText(double seconds) {
  return seconds >= 1.0 ? absl::StrFormat("%.4g s", seconds)
                        : absl::StrFormat("%.4g ms", seconds * 1e3);
}

// A part of the step, drawn from `x` on.
struct Window {
  double from_s = 0.0;
  double to_s = 0.0;
  double x = kTimelineLeft;
};

// Returns the median time of the actions that take time; 0 if none does.
double MedianActionTime(const Timeline& timeline) {
  std::vector<double> times;
  times.reserve(timeline.actions.size());
  for (const TimedAction& timed : timeline.actions) {
    if (timed.end_s > timed.start_s) times.push_back(timed.end_s - timed.start_s);
  }
  if (times.empty()) return 0.0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

class Picture {
 public:
  Picture(const TimelineSubject& subject, const Timeline& timeline)
      : subject_(subject), timeline_(timeline) {
    const double all_s = timeline.makespan_s;
    if (!(all_s > 0.0)) return;
    scale_ = kTimelinePlot / all_s;
    windows_ = {{.from_s = 0.0, .to_s = all_s}};
    // A step of many micro-batches repeats itself in the middle. Its beginning and its end are
    // drawn at a legible scale.
    const double median_s = MedianActionTime(timeline);
    if (!(median_s > 0.0)) return;
    const double legible = kLegibleBar / median_s;
    const double window_s = (kTimelinePlot - kWindowsApart) / 2.0 / legible;
    if (!(legible > scale_) || 2.0 * window_s >= all_s) return;
    scale_ = legible;
    windows_ = {{.from_s = 0.0, .to_s = window_s},
                {.from_s = all_s - window_s,
                 .to_s = all_s,
                 .x = kTimelineLeft + (kTimelinePlot + kWindowsApart) / 2.0}};
  }

  std::string Draw(const PictureOrigin& origin) {
    const std::string headline = absl::StrFormat(
        "%s: %d micro-batches, step %s, bubble %.1f %%", FormatLayout(subject_.layout),
        subject_.micro_batches, TimeText(timeline_.makespan_s), timeline_.BubbleShare() * 100);
    svg_ =
        OpenSvg(kTimelineLeft + kTimelinePlot + 30.0, Bottom() + kTimelineBottom, headline, origin);
    AppendStyle();
    absl::StrAppendFormat(&svg_, "<text class='title' x='8' y='20'>%s</text>\n", headline);
    Legend();
    for (size_t rank = 0; rank < timeline_.ranks.size(); ++rank) {
      absl::StrAppendFormat(&svg_, "<text x='8' y='%.0f'>pp rank %d</text>\n",
                            RowTop(static_cast<int32_t>(rank)) + 15.0, rank);
    }
    for (const Window& window : windows_) {
      for (const TimedReduction& timed : timeline_.reductions) Reduction(timed, window);
      for (const TimedAction& timed : timeline_.actions) Bar(timed, window);
      Scale(window);
    }
    if (windows_.size() > 1) LeftOut();
    svg_ += "</svg>\n";
    return std::move(svg_);
  }

 private:
  double X(double seconds, const Window& window) const {
    return window.x + (std::clamp(seconds, window.from_s, window.to_s) - window.from_s) * scale_;
  }
  static double RowTop(int32_t rank) { return kTimelineTop + kTimelineRow * rank; }
  double Bottom() const { return RowTop(static_cast<int32_t>(timeline_.ranks.size())); }

  void AppendStyle() {
    absl::StrAppend(&svg_, "<style>.dark{fill:#222;font-size:10px}");
    for (const Look& look : kLooks) {
      absl::StrAppendFormat(&svg_, ".%s{fill:%s}", look.style, look.colour);
    }
    absl::StrAppend(&svg_, "</style>\n");
  }

  // Lists only the kinds that occur.
  void Legend() {
    std::array<bool, kLooks.size()> used = {};
    for (const TimedAction& timed : timeline_.actions) {
      used[static_cast<size_t>(timed.action.kind)] = true;
    }
    used[kReduction] = !timeline_.reductions.empty();
    double x = kTimelineLeft;
    for (size_t i = 0; i < kLooks.size(); ++i) {
      if (!used[i]) continue;
      absl::StrAppendFormat(&svg_,
                            "<rect class='%s' x='%.0f' y='34' width='14' height='14'/>"
                            "<text x='%.0f' y='46'>%s</text>\n",
                            kLooks[i].style, x, x + 19.0, kLooks[i].label);
      x += 150.0;
    }
    if (subject_.layout.vpp > 1) {
      absl::StrAppendFormat(&svg_, "<text x='%.0f' y='46'>later chunks are lighter</text>\n", x);
    }
  }

  void Bar(const TimedAction& timed, const Window& window) {
    if (timed.end_s <= window.from_s || timed.start_s >= window.to_s) return;
    const double x = X(timed.start_s, window);
    const double width = X(timed.end_s, window) - x;
    const double top = RowTop(timed.rank);
    // Chunks fade from full to half strength.
    const double opacity = 1.0 - 0.5 * timed.action.chunk / std::max(1, subject_.layout.vpp - 1);
    absl::StrAppendFormat(&svg_, "<rect class='%s' x='%.2f' y='%.0f' width='%.2f' height='%.0f'",
                          LookOf(timed.action.kind).style, x, top,
                          std::max(width >= kGapFrom ? width - 0.5 : width, 0.1), kTimelineBar);
    if (opacity < 1.0) absl::StrAppendFormat(&svg_, " opacity='%.2f'", opacity);
    absl::StrAppendFormat(&svg_, "><title>%s %s to %s</title></rect>\n", FormatAction(timed.action),
                          TimeText(timed.start_s), TimeText(timed.end_s));
    const std::string label = std::to_string(timed.action.micro_batch);
    if (width < kDigit * static_cast<double>(label.size()) + 2.0) return;
    absl::StrAppendFormat(&svg_, "<text class='%s middle' x='%.2f' y='%.0f'>%s</text>\n",
                          opacity < 0.8 ? "dark" : "light", x + width / 2.0, top + 14.0, label);
  }

  // A thin line below the actions of its rank.
  void Reduction(const TimedReduction& timed, const Window& window) {
    if (timed.end_s <= window.from_s || timed.start_s >= window.to_s) return;
    const double x = X(timed.start_s, window);
    absl::StrAppendFormat(&svg_, "<rect class='r' x='%.2f' y='%.0f' width='%.2f' height='3'/>\n", x,
                          RowTop(timed.rank) + kTimelineBar,
                          std::max(X(timed.end_s, window) - x, 0.1));
  }

  void Scale(const Window& window) {
    const bool in_seconds = timeline_.makespan_s >= 1.0;
    const double unit_s = in_seconds ? 1.0 : 1e-3;
    const double pixels = (window.to_s - window.from_s) * scale_;
    const double y = Bottom() + 4.0;
    for (const double tick : LinearTicks(window.from_s / unit_s, window.to_s / unit_s,
                                         static_cast<int>(pixels * kTicksPerPixel))) {
      const double x = X(tick * unit_s, window);
      absl::StrAppendFormat(&svg_,
                            "<line class='frame' x1='%.2f' y1='%.0f' x2='%.2f' y2='%.0f'/>"
                            "<text class='middle' x='%.2f' y='%.0f'>%s %s</text>\n",
                            x, y, x, y + 5.0, x, y + 18.0, TickText(tick), in_seconds ? "s" : "ms");
    }
  }

  void LeftOut() {
    const Window& head = windows_.front();
    const Window& tail = windows_.back();
    for (const double x : {X(head.to_s, head), tail.x}) {
      absl::StrAppendFormat(&svg_,
                            "<line class='limit' x1='%.1f' y1='%.0f' x2='%.1f' y2='%.0f'/>\n", x,
                            kTimelineTop - 4.0, x, Bottom());
    }
    absl::StrAppendFormat(&svg_,
                          "<text class='middle' x='%.1f' y='66'>The step from %s to %s is left "
                          "out.</text>\n",
                          (X(head.to_s, head) + tail.x) / 2.0, TimeText(head.to_s),
                          TimeText(tail.from_s));
  }

  const TimelineSubject& subject_;
  const Timeline& timeline_;
  double scale_ = 0.0;  // pixels per second
  std::vector<Window> windows_;
  std::string svg_;
};

}  // namespace

std::string TimelineSvg(const TimelineSubject& subject, const Timeline& timeline,
                        const PictureOrigin& origin) {
  return Picture(subject, timeline).Draw(origin);
}

}  // namespace meshwright::planner
