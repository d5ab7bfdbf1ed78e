#include "executor/trial/step_profile.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace meshwright::trial {
namespace {

bool IsMessage(const CommunicationSpan& span) {
  return span.operation == planner::CollectiveKind::kSend ||
         span.operation == planner::CollectiveKind::kReceive;
}

// Returns the entry that `matches`, adding `fresh` where there is none. Linear, as entries are few.
template <typename T, typename Matches>
T& EntryOf(std::vector<T>& entries, const Matches& matches, T fresh) {
  const auto found = std::find_if(entries.begin(), entries.end(), matches);
  return found != entries.end() ? *found : entries.emplace_back(std::move(fresh));
}

CommunicationTotal& TotalOf(std::vector<CommunicationTotal>& totals, const std::string& group,
                            planner::CollectiveKind operation) {
  return EntryOf(totals,
                 [&](const CommunicationTotal& total) {
                   return total.operation == operation && total.group == group;
                 },
                 {.group = group, .operation = operation});
}

ActionTotal& TotalOf(std::vector<ActionTotal>& totals, planner::ActionKind kind, int32_t chunk) {
  return EntryOf(
      totals, [&](const ActionTotal& total) { return total.kind == kind && total.chunk == chunk; },
      {.kind = kind, .chunk = chunk});
}

void AddMessage(const CommunicationSpan& span, std::vector<MessageTimes>& messages) {
  const bool sent = span.operation == planner::CollectiveKind::kSend;
  MessageTimes& times =
      EntryOf(messages,
              [&](const MessageTimes& entry) {
                return entry.sent == sent && entry.peer == span.peer && entry.group == span.group;
              },
              {.group = span.group,
               .peer = span.peer,
               .sent = sent,
               .issued_s = {},
               .waits = {},
               .done_s = {}});
  times.issued_s.push_back(span.issued_s);
  times.waits.push_back(span.wait);
  times.done_s.push_back(span.done_s);
}

// One end of a sequence of messages: group, sender, receiver, and which side it is.
using End = std::tuple<std::string, int32_t, int32_t, bool>;

End EndOf(const MessageTimes& times, int32_t rank) {
  return times.sent ? End{times.group, rank, times.peer, true}
                    : End{times.group, times.peer, rank, false};
}

struct Matched {
  double bubble_s = 0.0;     // seconds of this side's waits
  double under_way_s = 0.0;  // seconds of the messages
};

Matched Match(const MessageTimes& here, const MessageTimes& there) {
  Matched matched;
  const std::vector<double>& received_s = here.sent ? there.done_s : here.done_s;
  for (size_t i = 0; i < std::min(here.waits.size(), there.waits.size()); ++i) {
    const double absent_s = there.issued_s[i] - here.waits[i].begin_s;
    matched.bubble_s += std::clamp(absent_s, 0.0, here.waits[i].duration_s());
    const double both_s = std::max(here.issued_s[i], there.issued_s[i]);
    matched.under_way_s += std::max(0.0, received_s[i] - both_s);
  }
  return matched;
}

CommunicationTotal& TotalOf(const MessageTimes& times, StepProfile& profile) {
  return TotalOf(profile.communication, times.group,
                 times.sent ? planner::CollectiveKind::kSend : planner::CollectiveKind::kReceive);
}

void Apply(const MessageTimes& times, const Matched& matched, StepProfile& profile) {
  const double bubble_s = std::min(matched.bubble_s, profile.phases[Phase::kPipeline]);
  profile.phases[Phase::kPipeline] -= bubble_s;
  profile.phases[Phase::kBubble] += bubble_s;
  TotalOf(times, profile).under_way_s += matched.under_way_s;
}

}  // namespace

StepProfile ProfileOf(const StepRecord& record) {
  StepProfile profile;
  profile.phases = record.phases;
  for (const ActionSpan& span : record.actions) {
    ActionTotal& total = TotalOf(profile.actions, span.action.kind, span.action.chunk);
    total.calls += 1.0;
    total.seconds += span.time.duration_s();
    total.communication_s += span.communication_s;
  }
  std::map<std::pair<std::string, planner::CollectiveKind>, double> done_s;
  for (const CommunicationSpan& span : record.communication) {
    CommunicationTotal& total = TotalOf(profile.communication, span.group, span.operation);
    double& previous_s = done_s[{span.group, span.operation}];
    total.calls += 1.0;
    total.bytes += static_cast<double>(span.bytes);
    total.waited_s += span.wait.duration_s();
    total.under_way_s += std::max(0.0, span.done_s - BeganAt(span, previous_s));
    previous_s = std::max(previous_s, span.done_s);
    if (IsMessage(span)) AddMessage(span, profile.messages);
  }
  return profile;
}

void ShiftTimes(double by_s, StepProfile& profile) {
  for (MessageTimes& times : profile.messages) {
    for (double& issued_s : times.issued_s) issued_s += by_s;
    for (TimeSpan& wait : times.waits) ShiftTimes(by_s, wait);
    for (double& done_s : times.done_s) done_s += by_s;
  }
}

void MatchMessages(std::vector<StepProfile>& ranks) {
  std::map<End, const MessageTimes*> ends;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const MessageTimes& times : ranks[rank].messages) {
      ends[EndOf(times, static_cast<int32_t>(rank))] = &times;
    }
  }
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<std::pair<const MessageTimes*, const MessageTimes*>> pairs;
    for (const MessageTimes& times : ranks[rank].messages) {
      End other = EndOf(times, static_cast<int32_t>(rank));
      std::get<bool>(other) = !times.sent;
      const auto found = ends.find(other);
      if (found != ends.end()) pairs.emplace_back(&times, found->second);
    }
    // Replaces the times that one side alone could determine.
    for (const auto& [here, there] : pairs) TotalOf(*here, ranks[rank]).under_way_s = 0.0;
    for (const auto& [here, there] : pairs) Apply(*here, Match(*here, *there), ranks[rank]);
  }
}

StepProfile MeanOf(const std::vector<StepProfile>& steps) {
  StepProfile mean;
  const double share = 1.0 / static_cast<double>(steps.size());
  for (const StepProfile& step : steps) {
    ForEachPhase([&](Phase phase) { mean.phases[phase] += share * step.phases[phase]; });
    for (const ActionTotal& total : step.actions) {
      ActionTotal& to = TotalOf(mean.actions, total.kind, total.chunk);
      to.calls += share * total.calls;
      to.seconds += share * total.seconds;
      to.communication_s += share * total.communication_s;
    }
    for (const CommunicationTotal& total : step.communication) {
      CommunicationTotal& to = TotalOf(mean.communication, total.group, total.operation);
      to.calls += share * total.calls;
      to.bytes += share * total.bytes;
      to.waited_s += share * total.waited_s;
      to.under_way_s += share * total.under_way_s;
    }
  }
  return mean;
}

}  // namespace meshwright::trial
