#include "executor/gang/tunnels.h"

#include <gtest/gtest.h>

#include "tests/executor/gang/tls_pair.h"

namespace meshwright::gang {
namespace {

// A tunnel between a plain and an encrypted connection, whose other ends the test has.
class TunnelsTest : public testing::Test {
 protected:
  TunnelsTest() {
    SocketPair near = MakeSocketPair();
    near_ = std::move(near.a);
    tunnels_.Add({.near = std::move(near.b), .far = std::move(far_pair_.listener)});
  }

  int Descriptors() const {
    std::vector<pollfd> descriptors;
    tunnels_.AddDescriptors(descriptors);
    return static_cast<int>(descriptors.size());
  }

  // Pumps until what comes to `end` is `text`, and returns whether that happens. `over` says
  // whether nothing more comes after it.
  bool Comes(UniqueFd& end, const std::string& text, bool over = false) {
    std::string heard;
    bool ended = false;
    return Eventually([&] {
      tunnels_.Pump();
      heard += ReadAll(end, &ended);
      return heard == text && ended == over;
    });
  }
  bool Comes(TlsSocket& end, const std::string& text, bool over = false) {
    std::string heard;
    absl::Status status;
    return Eventually([&] {
      tunnels_.Pump();
      heard += ReadAll(end, &status);
      return heard == text && absl::IsOutOfRange(status) == over;
    });
  }

  TlsPair far_pair_ = MakeTlsPair();
  UniqueFd near_;
  TlsSocket& far_ = far_pair_.dialer;
  Tunnels tunnels_;
};

TEST_F(TunnelsTest, BytesGoBothWays) {
  Write(near_, "there");
  Write(far_, "back");
  EXPECT_TRUE(Comes(far_, "there"));
  EXPECT_TRUE(Comes(near_, "back"));
}

TEST_F(TunnelsTest, AnEndThatHasSaidAllStillHears) {
  Write(near_, "last");
  ::shutdown(near_.get(), SHUT_WR);
  EXPECT_TRUE(Comes(far_, "last", /*over=*/true));
  EXPECT_EQ(tunnels_.size(), 1u);
  Write(far_, "answer");
  EXPECT_TRUE(Comes(near_, "answer"));
  EXPECT_TRUE(far_.EndSending().value());
  EXPECT_TRUE(Comes(near_, "", /*over=*/true));
  EXPECT_EQ(tunnels_.size(), 0u);
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
  EXPECT_TRUE(Eventually([&] {
    tunnels_.Pump();
    received += ReadAll(far_).size();
    return received == sent;
  }));
  EXPECT_EQ(Descriptors(), 2);
}

TEST_F(TunnelsTest, WhereOneEndFailsTheOtherIsClosed) {
  far_.Close();
  EXPECT_TRUE(Comes(near_, "", /*over=*/true));
  EXPECT_EQ(tunnels_.size(), 0u);
}

// Otherwise bytes that were lost on their way would look as if they had never been sent.
TEST_F(TunnelsTest, ATunnelThatIsDroppedDoesNotLookLikeOneThatEnded) {
  Write(near_, "some");
  EXPECT_TRUE(Comes(far_, "some"));
  tunnels_ = Tunnels();
  absl::Status status;
  EXPECT_TRUE(Eventually([&] {
    ReadAll(far_, &status);
    return !status.ok();
  }));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

}  // namespace
}  // namespace meshwright::gang
