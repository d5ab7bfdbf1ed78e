// ExpectFacetsOfAllRows() expects that the tables of the facets have the values of every
// measurement.
#pragma once

#include <string>

#include "db/measurement.h"
#include "db/sqlite.h"
#include "gtest/gtest.h"

namespace meshwright::db {

inline void ExpectFacetsOfAllRows(const std::string& path) {
  const auto connection = *SqliteConnection::Open(path, SqliteConnection::Mode::kReadOnly);
  EXPECT_GT(*connection->QueryInt("SELECT count(*) FROM measurements"), 0);
  std::string axes;
  for (const MeasurementColumn& key : MeasurementColumns()) {
    if (key.facet != MeasurementFacet::kLayout || key.in_facet_alone) continue;
    axes += " AND l." + std::string(key.name) + " IS m." + std::string(key.name);
  }
  EXPECT_EQ(*connection->QueryInt("SELECT count(*) FROM measurements AS m WHERE NOT EXISTS "
                                  "(SELECT 1 FROM layouts AS l WHERE l.layout = m.layout" +
                                  axes + ")"),
            0);
  EXPECT_EQ(*connection->QueryInt(
                "SELECT count(*) FROM measurements AS m WHERE NOT EXISTS (SELECT 1 FROM settings "
                "AS s WHERE s.model = m.model AND s.cluster = m.cluster AND s.devices = m.devices "
                "AND s.seq_len = m.seq_len AND s.global_batch = m.global_batch AND "
                "s.precision = m.precision)"),
            0);
  std::string options;
  for (const MeasurementColumn& option : MeasurementColumns()) {
    if (option.facet != MeasurementFacet::kOptions) continue;
    options += " AND o." + std::string(option.name) + " IS NOT NULL";
  }
  EXPECT_EQ(*connection->QueryInt("SELECT count(*) FROM measurements AS m WHERE NOT EXISTS "
                                  "(SELECT 1 FROM training_options AS o WHERE "
                                  "o.training_hash = m.training_hash" +
                                  options + ")"),
            0);
  EXPECT_EQ(*connection->QueryInt(
                "SELECT count(*) FROM measurements WHERE (source, worker_version, outcome) NOT IN "
                "(SELECT source, worker_version, outcome FROM origins)"),
            0);
}

}  // namespace meshwright::db
