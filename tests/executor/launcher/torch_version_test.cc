#include "executor/launcher/torch_version.h"

#include "gtest/gtest.h"

namespace meshwright::launcher {
namespace {

TEST(TorchVersion, ReadsTheWheelsFile) {
  EXPECT_EQ(TorchVersion("from typing import Optional\n\n"
                         "__all__ = ['__version__', 'debug', 'cuda', 'git_version']\n"
                         "__version__ = '2.11.0+cu130'\n"
                         "debug = False\n"
                         "cuda: Optional[str] = '13.0'\n"),
            "2.11.0+cu130");
}

TEST(TorchVersion, TakesCudaFromItsOwnLineWhereTheVersionDoesNotNameIt) {
  EXPECT_EQ(TorchVersion("__version__ = \"2.11.0\"\ncuda: Optional[str] = '13.0'\n"),
            "2.11.0+cu130");
  EXPECT_EQ(TorchVersion("__version__ = '2.11.0'\ncuda = '12.8'"), "2.11.0+cu128");
}

TEST(TorchVersion, LeavesABuildWithoutCudaAsItIs) {
  EXPECT_EQ(TorchVersion("__version__ = '2.11.0'\ncuda: Optional[str] = None\n"), "2.11.0");
  EXPECT_EQ(TorchVersion("__version__ = '2.11.0+cpu'\ncuda = '13.0'\n"), "2.11.0+cpu");
}

TEST(TorchVersion, HasNoneWhereTheFileNamesNone) {
  EXPECT_EQ(TorchVersion(""), std::nullopt);
  EXPECT_EQ(TorchVersion("__version__"), std::nullopt);
  EXPECT_EQ(TorchVersion("__version__ = '2.11.0"), std::nullopt);
  EXPECT_EQ(TorchVersion("__version__ = None\ncuda = '13.0'\n"), std::nullopt);
  EXPECT_EQ(TorchVersion("__version__tuple = '2.11.0'\n"), std::nullopt);
}

}  // namespace
}  // namespace meshwright::launcher
