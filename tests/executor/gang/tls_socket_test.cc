// Who gets through to a listener and who does not, and what the network sees of it.
#include "executor/gang/tls_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/executor/gang/recording_proxy.h"
#include "tests/executor/gang/tls_pair.h"

namespace meshwright::gang {
namespace {

using testing::HasSubstr;
using testing::Not;

// OpenSSL's own end of a connection, with the settings of a test.
class RawTls {
 public:
  explicit RawTls(const SSL_METHOD* method) : context_(SSL_CTX_new(method), &SSL_CTX_free) {}

  SSL_CTX* context() { return context_.get(); }
  void Take(UniqueFd socket) {
    socket_ = std::move(socket);
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), socket_.get());
    SSL_is_server(ssl_.get()) != 0 ? SSL_set_accept_state(ssl_.get())
                                   : SSL_set_connect_state(ssl_.get());
  }
  // Proceeds until `own` has failed, and returns why it has.
  absl::Status MeetAsStranger(TlsSocket& own) {
    absl::Status status;
    EXPECT_TRUE(Eventually([&] {
      SSL_do_handshake(ssl_.get());
      status = own.ShakeHands(MonotonicNow());
      return !status.ok() || own.is_authenticated();
    }));
    EXPECT_FALSE(own.is_authenticated());
    return status;
  }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  UniqueFd socket_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, &SSL_free};
};

// Makes the peer know the right secret, under the identity `kName`.
constexpr char kRightName[] = "meshwright gang 2 link";
constexpr char kNextName[] = "meshwright gang 3 link";
template <const char* kName>
unsigned int RightSecret(SSL*, const char*, char* identity, unsigned int, unsigned char* key,
                         unsigned int) {
  const std::string_view name(kName);
  const std::string_view secret(kSecret);
  *std::copy(name.begin(), name.end(), identity) = '\0';
  std::copy(secret.begin(), secret.end(), key);
  return static_cast<unsigned int>(secret.size());
}

void ShowCertificate(SSL_CTX* context) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  EXPECT_EQ(SSL_CTX_use_certificate(context, certificate), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context, key), 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

class TlsSocketTest : public testing::Test {
 protected:
  UniqueFd Stranger() const { return DialPlain(ResolveHostPort(listener_->rendezvous()).value()); }
  // Returns how the listener's end fares with a peer that sends `bytes` and reads nothing.
  absl::Status AfterBytes(const std::string& bytes) const {
    const UniqueFd stranger = Stranger();
    Write(stranger, bytes);
    TlsSocket accepted = AcceptTls(*listener_, kSecret);
    absl::Status status = Finish(accepted);
    EXPECT_FALSE(accepted.is_authenticated());
    return status;
  }

  std::shared_ptr<Listener> listener_ = Listener::Open("127.0.0.1").value();
};

TEST_F(TlsSocketTest, TwoThatKnowTheSecretKnowEachOther) {
  for (const Purpose purpose : {Purpose::kLink, Purpose::kTunnel}) {
    TlsSocket dialer = DialTls(listener_->rendezvous(), kSecret, purpose);
    EXPECT_EQ(dialer.ShakeHands(MonotonicNow()), absl::OkStatus());
    TlsSocket listener = AcceptTls(*listener_, kSecret);
    Meet(dialer, listener);
    EXPECT_EQ(listener.purpose(), purpose);
    Write(dialer, "there");
    Write(listener, "back");
    std::string there;
    std::string back;
    EXPECT_TRUE(Eventually([&] { return (there += ReadAll(listener)) == "there"; }));
    EXPECT_TRUE(Eventually([&] { return (back += ReadAll(dialer)) == "back"; }));
  }
}

TEST_F(TlsSocketTest, NeitherEndTakesAnotherSecret) {
  TlsSocket dialer = DialTls(listener_->rendezvous(), "the secret of another attempt");
  EXPECT_EQ(dialer.ShakeHands(MonotonicNow()), absl::OkStatus());
  TlsSocket listener = AcceptTls(*listener_, kSecret);
  const absl::Status refused = Finish(listener);
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("does not know the secret"));
  const absl::Status told = Finish(dialer);
  EXPECT_TRUE(absl::IsPermissionDenied(told)) << told;
  EXPECT_THAT(std::string(told.message()), HasSubstr("does not know the secret"));
  EXPECT_FALSE(dialer.is_authenticated());
  EXPECT_FALSE(listener.is_authenticated());
}

TEST_F(TlsSocketTest, WhoSpeaksNoTlsIsKnownByTheFirstBytes) {
  for (const char* text : {"GET / HTTP/1.1\r\n", "MWGANG1\nL", "\xff\xff\xff\xff\xff"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(AfterBytes(text))) << text;
  }
}

TEST_F(TlsSocketTest, ATlsClientWithoutTheSecretIsRefused) {
  RawTls client(TLS_client_method());
  client.Take(Stranger());
  TlsSocket accepted = AcceptTls(*listener_, kSecret);
  EXPECT_TRUE(absl::IsPermissionDenied(client.MeetAsStranger(accepted)));
}

TEST_F(TlsSocketTest, OlderTlsIsRefusedEvenWithTheSecret) {
  RawTls client(TLS_client_method());
  SSL_CTX_set_max_proto_version(client.context(), TLS1_2_VERSION);
  SSL_CTX_set_psk_client_callback(client.context(), RightSecret<kRightName>);
  client.Take(Stranger());
  TlsSocket accepted = AcceptTls(*listener_, kSecret);
  EXPECT_THAT(std::string(client.MeetAsStranger(accepted).message()),
              HasSubstr("unsupported protocol"));
}

// So a member of another release that says other things is not understood by mistake.
TEST_F(TlsSocketTest, AnotherVersionOfTheProtocolIsRefusedEvenWithTheSecret) {
  RawTls client(TLS_client_method());
  SSL_CTX_set_psk_client_callback(client.context(), RightSecret<kNextName>);
  client.Take(Stranger());
  TlsSocket accepted = AcceptTls(*listener_, kSecret);
  EXPECT_TRUE(absl::IsPermissionDenied(client.MeetAsStranger(accepted)));
}

TEST_F(TlsSocketTest, AListenerWithACertificateInPlaceOfTheSecretIsRefused) {
  RawTls server(TLS_server_method());
  ShowCertificate(server.context());
  TlsSocket dialer = DialTls(listener_->rendezvous(), kSecret);
  EXPECT_EQ(dialer.ShakeHands(MonotonicNow()), absl::OkStatus());
  UniqueFd accepted;
  ASSERT_TRUE(Eventually([&] { return (accepted = Accept(listener_->socket())).is_open(); }));
  server.Take(std::move(accepted));
  EXPECT_THAT(std::string(server.MeetAsStranger(dialer).message()),
              HasSubstr("certificate verify failed"));
}

TEST_F(TlsSocketTest, RecordedBytesAreOfNoUseOnAnotherConnection) {
  RecordingProxy proxy(listener_->rendezvous());
  TlsSocket dialer = DialTls(proxy.rendezvous(), kSecret);
  EXPECT_EQ(dialer.ShakeHands(MonotonicNow()), absl::OkStatus());
  TlsSocket listener = AcceptTls(*listener_, kSecret);
  Meet(dialer, listener);
  Write(dialer, "set key");
  std::string heard;
  ASSERT_TRUE(Eventually([&] { return (heard += ReadAll(listener)) == "set key"; }));
  EXPECT_TRUE(absl::IsPermissionDenied(AfterBytes(proxy.sent())));
}

TEST_F(TlsSocketTest, BytesThatWereChangedOnTheirWayEndTheConnection) {
  RecordingProxy proxy(listener_->rendezvous());
  TlsSocket dialer = DialTls(proxy.rendezvous(), kSecret);
  EXPECT_EQ(dialer.ShakeHands(MonotonicNow()), absl::OkStatus());
  TlsSocket listener = AcceptTls(*listener_, kSecret);
  Meet(dialer, listener);
  proxy.Forge();
  Write(dialer, "set key");
  absl::Status status;
  std::string heard;
  ASSERT_TRUE(Eventually([&] {
    heard += ReadAll(listener, &status);
    return !status.ok();
  }));
  EXPECT_EQ(heard, "");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST_F(TlsSocketTest, WhoSendsMuchBeforeItIsKnownIsDropped) {
  // The beginning of a greeting that claims to have 100,000 bytes, in records of 16,384.
  std::string greeting("\x16\x03\x01\x40\x00\x01\x01\x86\xa0", 9);
  greeting += std::string(kMostHandshakeBytes - 1 - greeting.size(), 'x');
  const UniqueFd stranger = Stranger();
  Write(stranger, greeting);
  TlsSocket accepted = AcceptTls(*listener_, kSecret);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(accepted.ShakeHands(MonotonicNow()), absl::OkStatus());
  Write(stranger, "x");
  EXPECT_THAT(std::string(Finish(accepted).message()), HasSubstr("it has sent 4096 bytes"));
  EXPECT_FALSE(accepted.is_authenticated());
}

TEST_F(TlsSocketTest, WhoIsSlowIsDroppedAtTheDeadline) {
  const MonotonicTime now = MonotonicNow();
  // As much of a greeting as says nothing wrong yet.
  for (const std::string& begin : {std::string(), std::string("\x16\x03\x01\x01\x00\x01", 6)}) {
    const UniqueFd stranger = Stranger();
    Write(stranger, begin);
    TlsSocket accepted = AcceptTls(*listener_, kSecret);
    EXPECT_EQ(accepted.ShakeHands(now + absl::Seconds(29)), absl::OkStatus());
    const absl::Status late = accepted.ShakeHands(now + absl::Seconds(60));
    EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  }
}

TEST_F(TlsSocketTest, AnEndIsNotALoss) {
  for (const bool says_so : {true, false}) {
    TlsPair pair = MakeTlsPair();
    Write(pair.dialer, "last");
    if (says_so) {
      EXPECT_TRUE(pair.dialer.EndSending().value());
    }
    if (!says_so) pair.dialer.Close();
    absl::Status status;
    std::string heard;
    EXPECT_TRUE(Eventually([&] {
      heard += ReadAll(pair.listener, &status);
      return !status.ok();
    }));
    EXPECT_EQ(heard, "last");
    EXPECT_EQ(absl::IsOutOfRange(status), says_so) << status;
    if (!says_so) continue;
    Write(pair.listener, "answer");
    heard.clear();
    EXPECT_TRUE(Eventually([&] { return (heard += ReadAll(pair.dialer)) == "answer"; }));
  }
}

// The proxy sees what a network sees.
TEST_F(TlsSocketTest, ACaptureShowsNoPlainText) {
  const std::string words = "loss 4.0 of step 17";
  const std::string answer = "go on to step 18";
  RecordingProxy proxy(listener_->rendezvous());
  TlsSocket dialer = DialTls(proxy.rendezvous(), kSecret);
  EXPECT_EQ(dialer.ShakeHands(MonotonicNow()), absl::OkStatus());
  TlsSocket listener = AcceptTls(*listener_, kSecret);
  Meet(dialer, listener);
  Write(dialer, words);
  Write(listener, answer);
  std::string heard;
  std::string answered;
  ASSERT_TRUE(Eventually([&] { return (heard += ReadAll(listener)) == words; }));
  ASSERT_TRUE(Eventually([&] { return (answered += ReadAll(dialer)) == answer; }));
  EXPECT_THAT(proxy.sent(), Not(HasSubstr(words)));
  EXPECT_THAT(proxy.sent(), Not(HasSubstr(kSecret)));
  EXPECT_THAT(proxy.answered(), Not(HasSubstr(answer)));
  // It would find them: the name of the key is not a secret, nor is what is not encrypted.
  EXPECT_THAT(proxy.sent(), HasSubstr(kRightName));
  const UniqueFd plain = DialPlain(ResolveHostPort(proxy.rendezvous()).value());
  Write(plain, words);
  EXPECT_TRUE(Eventually([&] { return proxy.sent().find(words) != std::string::npos; }));
}

}  // namespace
}  // namespace meshwright::gang
