// StandingText and TakenOverText declare the fields that `meshwright standby` prints
// (planner/codec/fields.h). They have the names of the messages' fields.
#pragma once

#include <string>
#include <vector>

#include "executor/wire/wire.h"
#include "meshwright/v1/standby.pb.h"
#include "planner/codec/fields.h"
#include "tools/cli/common/wire_text.h"

namespace meshwright::cli {

struct StandbyLagText {
  v1::StandbyLag lag;
};

template <typename Visitor>
void VisitFields(const StandbyLagText& text, Visitor& visit) {
  visit("name", text.lag.name());
  visit("connected", text.lag.connected());
  visit("complete", text.lag.complete());
  visit("transactions", text.lag.transactions());
  visit("behind_bytes", text.lag.behind_bytes());
  visit("behind_s", text.lag.behind_s());
}

struct MissingResultText {
  v1::MissingResult missing;
};

template <typename Visitor>
void VisitFields(const MissingResultText& text, Visitor& visit) {
  visit("trial", ShortName(text.missing.trial()));
  visit("attempt", text.missing.attempt());
  visit("agent", text.missing.agent());
  visit("acknowledged_epoch", text.missing.acknowledged_epoch());
}

struct StandingText {
  v1::GetStandingResponse standing;
};

template <typename Visitor>
void VisitFields(const StandingText& text, Visitor& visit) {
  const v1::GetStandingResponse& standing = text.standing;
  std::vector<StandbyLagText> standbys;
  for (const v1::StandbyLag& lag : standing.standbys()) standbys.push_back({lag});
  std::vector<MissingResultText> missing;
  for (const v1::MissingResult& result : standing.missing_results()) missing.push_back({result});
  visit("is_standby", standing.is_standby());
  visit("store_id", standing.store_id());
  visit("epoch", standing.epoch());
  visit(planner::NullUnless(standing.is_standby(), "follows"), standing.follows());
  visit(planner::NullUnless(standing.has_lag(), "lag"), StandbyLagText{standing.lag()});
  visit("standbys", standbys);
  visit("missing_results", missing);
  visit("server_version", standing.server_version());
  visit("server_time", TimeText(standing.server_time()));
}

struct TakenOverText {
  v1::TakeOverResponse taken;
};

template <typename Visitor>
void VisitFields(const TakenOverText& text, Visitor& visit) {
  visit("epoch", text.taken.epoch());
  visit("lag", StandbyLagText{text.taken.lag()});
}

}  // namespace meshwright::cli
