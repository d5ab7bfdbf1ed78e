// AgentText declares the fields of agents that commands print (planner/codec/fields.h). They have
// the names of the message's fields.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text/json_text.h"
#include "executor/wire/message_codec.h"
#include "meshwright/v1/agents.pb.h"
#include "planner/catalog/cluster_fields.h"
#include "planner/codec/fields.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/common/wire_text.h"

namespace meshwright::cli {

struct AgentText {
  v1::Agent agent;
};

// AgentDevicesText is an agent's device set. The number of slots is printed with the set's keys.
struct AgentDevicesText {
  v1::Agent agent;
};

template <typename Visitor>
void VisitFields(const AgentDevicesText& text, Visitor& visit) {
  const v1::DeviceSet& devices = text.agent.device_set();
  visit("device_kind", wire::TextOf(devices.device_kind()));
  visit("devices", devices.devices());
  visit(planner::AtLeast(1, planner::OnlyInText({"slots",
                                                 "Equal parts of its devices that run trials side "
                                                 "by side"})),
        std::max(text.agent.slots(), 1));
  visit(planner::NullUnless(devices.memory_bytes() > 0, "memory_bytes"),
        int64_t{devices.memory_bytes()});
}

// RunnerText is a runner of an agent.
struct RunnerText {
  v1::RunnerOffer offer;
};

template <typename Visitor>
void VisitFields(const RunnerText& text, Visitor& visit) {
  visit("name", text.offer.name());
  visit("hash", text.offer.hash());
  visit("framework", text.offer.framework());
  visit("export_to", text.offer.export_to());
  visit("where", text.offer.where());
  planner::OrderedMap<std::string> fields(text.offer.fields().begin(), text.offer.fields().end());
  std::sort(fields.begin(), fields.end());
  visit("fields", fields);
  visit("runs_on_several_nodes", text.offer.runs_on_several_nodes());
}

template <typename Visitor>
void VisitFields(const AgentText& text, Visitor& visit) {
  const v1::Agent& agent = text.agent;
  std::vector<std::string> beside;
  for (const v1::AttemptRef& ref : agent.running_beside()) beside.push_back(ShortName(ref.trial()));
  std::vector<RunnerText> runners;
  for (const v1::RunnerOffer& offer : agent.runners()) runners.push_back({offer});
  std::optional<planner::WrittenJson<planner::ClusterSpec>> cluster;
  if (auto read = ParseOrderedJson("cluster", agent.cluster_json()); read.ok()) {
    cluster = planner::WrittenJson<planner::ClusterSpec>{*std::move(read)};
  }
  visit("name", agent.name());
  visit("host", agent.host());
  visit(planner::Inside("device_set"), AgentDevicesText{agent});
  visit(planner::OnlyOnWire("slots"), planner::NoValue());
  visit("version", agent.version());
  visit("address", agent.address());
  visit("state", wire::TextOf(agent.state()));
  visit("connect_time", TimeText(agent.connect_time()));
  visit("last_heard_time", TimeText(agent.last_heard_time()));
  visit(planner::NullUnless(agent.has_running(), "running"), ShortName(agent.running().trial()));
  visit("running_beside", beside);
  visit("runners", runners);
  visit("drained", agent.drained());
  visit(planner::NullUnless(!agent.set_aside_reason().empty(), "set_aside_reason"),
        agent.set_aside_reason());
  visit("failures_in_a_row", agent.failures_in_a_row());
  visit(planner::OrNull(planner::InMessage("cluster_json", "cluster")), cluster);
}

struct AgentListText {
  std::vector<AgentText> agents;
};

template <typename Visitor>
void VisitFields(const AgentListText& list, Visitor& visit) {
  visit({"agents", "Agents that are connected, and then those that were lost"}, list.agents);
}

// The output of `agents drain` and `agents resume`.
struct DecidedText {
  std::string name;
  std::string now;
};

template <typename Visitor>
void VisitFields(const DecidedText& decided, Visitor& visit) {
  visit({"name", "Name of the agent"}, decided.name);
  visit({"now", "What it gets from now on, in words"}, decided.now);
}

}  // namespace meshwright::cli
