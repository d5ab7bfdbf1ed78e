#include "executor/gang/tunnels.h"

#include <gtest/gtest.h>

#include "tests/executor/gang/socket_pair.h"

namespace meshwright::gang {
namespace {

// A tunnel between two sockets, whose other ends the test has.
class TunnelsTest : public testing::Test {
 protected:
  TunnelsTest() {
    SocketPair near = MakeSocketPair();
    SocketPair far = MakeSocketPair();
    near_ = std::move(near.a);
    far_ = std::move(far.a);
    tunnels_.Add({.near = std::move(near.b), .far = std::move(far.b)});
  }

  int Descriptors() const {
    std::vector<pollfd> descriptors;
    tunnels_.AddDescriptors(descriptors);
    return static_cast<int>(descriptors.size());
  }

  UniqueFd near_;
  UniqueFd far_;
  Tunnels tunnels_;
};

TEST_F(TunnelsTest, BytesGoBothWays) {
  Write(near_, "there");
  Write(far_, "back");
  tunnels_.Pump();
  EXPECT_EQ(ReadAll(far_), "there");
  EXPECT_EQ(ReadAll(near_), "back");
}

TEST_F(TunnelsTest, AnEndThatHasSaidAllStillHears) {
  Write(near_, "last");
  ::shutdown(near_.get(), SHUT_WR);
  tunnels_.Pump();
  bool ended = false;
  EXPECT_EQ(ReadAll(far_, &ended), "last");
  EXPECT_TRUE(ended);
  EXPECT_EQ(tunnels_.size(), 1u);
  Write(far_, "answer");
  tunnels_.Pump();
  EXPECT_EQ(ReadAll(near_), "answer");
  ::shutdown(far_.get(), SHUT_WR);
  tunnels_.Pump();
  EXPECT_EQ(tunnels_.size(), 0u);
  ReadAll(near_, &ended);
  EXPECT_TRUE(ended);
}

// A sender that nobody reads fills the sockets and a bounded buffer, and no more is taken of it.
TEST_F(TunnelsTest, WhoSendsFasterThanTheOtherReadsHasToWait) {
  const std::string block(65536, 'x');
  size_t sent = 0;
  for (int idle = 0; idle < 3;) {
    const ssize_t n = ::send(near_.get(), block.data(), block.size(), MSG_NOSIGNAL);
    if (n > 0) sent += static_cast<size_t>(n);
    idle = n > 0 ? 0 : idle + 1;
    tunnels_.Pump();
    ASSERT_LT(sent, size_t{64} << 20);
  }
  size_t received = 0;
  for (int i = 0; i < 10000 && received < sent; ++i) {
    received += ReadAll(far_).size();
    tunnels_.Pump();
  }
  EXPECT_EQ(received, sent);
  EXPECT_EQ(Descriptors(), 2);
}

TEST_F(TunnelsTest, WhereOneEndFailsTheOtherIsClosed) {
  far_.Close();
  Write(near_, "to nobody");
  tunnels_.Pump();
  tunnels_.Pump();
  EXPECT_EQ(tunnels_.size(), 0u);
  bool ended = false;
  ReadAll(near_, &ended);
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace meshwright::gang
