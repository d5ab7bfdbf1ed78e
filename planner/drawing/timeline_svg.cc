#include "planner/drawing/timeline_svg.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace meshwright::planner {
namespace {

constexpr double kTimelineLeft = 70.0;
constexpr double kTimelineTop = 70.0;
constexpr double kTimelinePlot = 1200.0;  // width of the whole step
constexpr double kTimelineRow = 24.0;
constexpr double kTimelineBar = 20.0;
constexpr double kDigit = 6.0;  // width of a digit of a label
constexpr double kTimelineBottom = 40.0;

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

std::string Milliseconds(double seconds) { return absl::StrFormat("%.4g ms", seconds * 1e3); }

class Picture {
 public:
  Picture(const TimelineSubject& subject, const Timeline& timeline)
      : subject_(subject),
        timeline_(timeline),
        scale_(timeline.makespan_s > 0.0 ? kTimelinePlot / timeline.makespan_s : 0.0),
        height_(kTimelineTop + kTimelineRow * static_cast<double>(timeline.ranks.size()) +
                kTimelineBottom) {}

  std::string Draw() {
    Open();
    Legend();
    for (size_t rank = 0; rank < timeline_.ranks.size(); ++rank) {
      absl::StrAppendFormat(&svg_, "<text x='8' y='%.0f'>rank %d</text>\n",
                            RowTop(static_cast<int32_t>(rank)) + 15.0, rank);
    }
    for (const TimedReduction& timed : timeline_.reductions) Reduction(timed);
    for (const TimedAction& timed : timeline_.actions) Bar(timed);
    Scale();
    svg_ += "</svg>\n";
    return std::move(svg_);
  }

 private:
  double X(double seconds) const { return kTimelineLeft + seconds * scale_; }
  static double RowTop(int32_t rank) { return kTimelineTop + kTimelineRow * rank; }

  void Open() {
    const double width = kTimelineLeft + kTimelinePlot + 30.0;
    absl::StrAppendFormat(&svg_,
                          "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' "
                          "width='%.0f' height='%.0f'>\n<style>text{font:12px sans-serif}"
                          ".n{fill:#fff}.d{fill:#222}.n,.d{font-size:10px;text-anchor:middle}"
                          ".t{text-anchor:middle}",
                          width, height_, width, height_);
    for (const Look& look : kLooks) {
      absl::StrAppendFormat(&svg_, ".%s{fill:%s}", look.style, look.colour);
    }
    const std::string headline = absl::StrFormat(
        "%s: %d micro-batches, step %s, bubble %.1f %%", FormatLayout(subject_.layout),
        subject_.micro_batches, Milliseconds(timeline_.makespan_s), timeline_.BubbleShare() * 100);
    absl::StrAppend(&svg_, "</style>\n<title>", headline, "</title>\n");
    absl::StrAppend(&svg_, "<rect width='100%' height='100%' fill='#fff'/>\n");
    absl::StrAppendFormat(&svg_, "<text x='8' y='20' style='font-size:15px'>%s</text>\n", headline);
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

  void Bar(const TimedAction& timed) {
    const double width = (timed.end_s - timed.start_s) * scale_;
    const double top = RowTop(timed.rank);
    // Chunks fade from full to half strength.
    const double opacity = 1.0 - 0.5 * timed.action.chunk / std::max(1, subject_.layout.vpp - 1);
    absl::StrAppendFormat(&svg_, "<rect class='%s' x='%.2f' y='%.0f' width='%.2f' height='%.0f'",
                          LookOf(timed.action.kind).style, X(timed.start_s), top,
                          std::max(width - 0.5, 0.1), kTimelineBar);
    if (opacity < 1.0) absl::StrAppendFormat(&svg_, " opacity='%.2f'", opacity);
    absl::StrAppendFormat(&svg_, "><title>%s %s to %s</title></rect>\n", FormatAction(timed.action),
                          Milliseconds(timed.start_s), Milliseconds(timed.end_s));
    const std::string label = std::to_string(timed.action.micro_batch);
    if (width < kDigit * static_cast<double>(label.size()) + 2.0) return;
    absl::StrAppendFormat(&svg_, "<text class='%s' x='%.2f' y='%.0f'>%s</text>\n",
                          opacity < 0.8 ? "d" : "n", X(timed.start_s) + width / 2.0, top + 14.0,
                          label);
  }

  // A thin line below the actions of its rank.
  void Reduction(const TimedReduction& timed) {
    absl::StrAppendFormat(&svg_, "<rect class='r' x='%.2f' y='%.0f' width='%.2f' height='3'/>\n",
                          X(timed.start_s), RowTop(timed.rank) + kTimelineBar,
                          std::max((timed.end_s - timed.start_s) * scale_, 0.1));
  }

  // Ticks at 1, 2 or 5 times a power of ten, eight to twenty of them.
  void Scale() {
    if (!(timeline_.makespan_s > 0.0)) return;
    const double rough = timeline_.makespan_s / 8.0;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    const double step = power * (rough / power >= 5.0 ? 5.0 : rough / power >= 2.0 ? 2.0 : 1.0);
    const double bottom = height_ - kTimelineBottom + 4.0;
    for (int i = 0; i * step <= timeline_.makespan_s * (1.0 + 1e-9); ++i) {
      absl::StrAppendFormat(
          &svg_,
          "<path d='M%.2f %.0fv5' stroke='#888'/><text class='t' x='%.2f' y='%.0f'>%s</text>\n",
          X(i * step), bottom, X(i * step), bottom + 18.0, Milliseconds(i * step));
    }
  }

  const TimelineSubject& subject_;
  const Timeline& timeline_;
  const double scale_;
  const double height_;
  std::string svg_;
};

}  // namespace

std::string TimelineSvg(const TimelineSubject& subject, const Timeline& timeline) {
  return Picture(subject, timeline).Draw();
}

}  // namespace meshwright::planner
