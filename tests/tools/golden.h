// ExpectFile() compares a text with a golden file, such as tests/golden/NAME, which holds the text
// that a test must print. With MESHWRIGHT_UPDATE_GOLDEN=1 in the environment, it writes the file
// instead.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace meshwright::cli {

// `file_path` is relative to the root of the source tree.
inline void ExpectFile(const std::string& file_path, const std::string& text) {
  const char* source_dir = std::getenv("MESHWRIGHT_SOURCE_DIR");
  ASSERT_NE(source_dir, nullptr) << "run through ctest, which sets MESHWRIGHT_SOURCE_DIR";
  const std::string path = std::string(source_dir) + "/" + file_path;
  if (std::getenv("MESHWRIGHT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file.good()) << path << " is missing; MESHWRIGHT_UPDATE_GOLDEN=1 writes it";
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "MESHWRIGHT_UPDATE_GOLDEN=1 rewrites " << path;
}

inline void ExpectGolden(const std::string& name, const std::string& text) {
  ExpectFile("tests/golden/" + name, text);
}

}  // namespace meshwright::cli
