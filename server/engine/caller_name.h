// CallerName() returns the name of a caller for places that otherwise hold an agent's name, such as
// the members of an attempt.
#pragma once

#include <optional>
#include <string>

namespace meshwright::server {

// `actor` is the caller as events name it ("token NAME", "certificate NAME"); empty if callers need
// not authenticate. The returned text has a space, so that it never is the name of an agent.
inline std::string CallerName(const std::string& actor) {
  return actor.empty() ? "a caller" : actor;
}

// Returns who delivers a result: the agent, or the caller who reports it (TrialFinished).
inline std::string DelivererName(const std::string& agent,
                                 const std::optional<std::string>& told_by) {
  return told_by ? CallerName(*told_by) : "agent " + agent;
}

}  // namespace meshwright::server
