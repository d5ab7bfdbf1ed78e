// The command's parts on the published runs, where they are there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "planner/measurement/validation.h"
#include "planner/report/validation_report.h"
#include "tests/planner/measurements_folder.h"

namespace meshwright::planner {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Files() {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(MeasurementsFolder(), error)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class PublishedRuns : public testing::Test {
 protected:
  void SetUp() override {
    if (!Files().empty()) return;
    // CTest shows the test as skipped by this line.
    std::cout << "[  SKIPPED ] the whole file: no measurements in " << MeasurementsFolder() << "\n";
    GTEST_SKIP() << "MESHWRIGHT_MEASUREMENTS names a folder with them";
  }
};

TEST_F(PublishedRuns, EveryFileParsesAndEveryRowGetsItsLine) {
  const MeasurementPresets presets = LoadMeasurementPresets(2).value();
  for (const fs::path& file : Files()) {
    const std::string text = ReadFile(file);
    const auto measured = ParseMeasurements(text);
    ASSERT_TRUE(measured.ok()) << file << ": " << measured.status();
    const auto lines = std::count(text.begin(), text.end(), '\n');
    EXPECT_EQ(static_cast<int64_t>(measured->size()), lines - 1) << file;
    std::vector<RowPrediction> rows;
    for (const Measurement& row : *measured) {
      rows.push_back(PredictRow(static_cast<int64_t>(rows.size()), row, presets));
      EXPECT_NE(rows.back().predicted.has_value(), !rows.back().reason.empty());
    }
    const std::string csv = RowsToCsv(rows);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), lines) << file;
    const std::string header = csv.substr(0, csv.find('\n'));
    const auto commas = std::count(header.begin(), header.end(), ',');
    EXPECT_EQ(std::count(csv.begin(), csv.end(), ','), commas * lines) << file;
    EXPECT_EQ(ReportValidation(rows).total.rows, lines - 1) << file;
  }
}

// Of the files that are no large sweep of one study.
TEST_F(PublishedRuns, NearlyThreeOfFourRowsAreModelled) {
  const MeasurementPresets presets = LoadMeasurementPresets(2).value();
  int64_t rows = 0;
  int64_t modelled = 0;
  for (const fs::path& file : Files()) {
    const std::string stem = file.stem().string();
    if (stem == "hagemann" || stem == "nanotron_ultrascale" || stem == "vtrain") continue;
    auto measured = ParseMeasurements(ReadFile(file)).value();
    FillShapes(measured);
    for (const Measurement& row : measured) {
      ++rows;
      if (PredictRow(0, row, presets).predicted) ++modelled;
    }
  }
  EXPECT_GE(static_cast<double>(modelled), 0.74 * static_cast<double>(rows))
      << modelled << " of " << rows;
}

}  // namespace
}  // namespace meshwright::planner
