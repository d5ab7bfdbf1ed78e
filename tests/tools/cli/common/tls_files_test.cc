// Files of certificates, keys and tokens: what is taken, and what is said of the others.
#include "tools/cli/common/tls_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "db/token.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/test_certificates.h"

namespace meshwright::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TlsFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/tls-files-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Put(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  template <typename T>
  static std::string Said(const absl::StatusOr<T>& result) {
    EXPECT_TRUE(absl::IsInvalidArgument(result.status())) << result.status();
    return std::string(result.status().message());
  }

  TestAuthority authority_;
  std::string folder_;
};

TEST_F(TlsFilesTest, TakesACertificateWithItsKey) {
  const TestIdentity made = authority_.Issue("DNS:a");
  const auto read = ReadIdentity(Put("a.pem", made.certificate, 0644), Put("a.key", made.key));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->certificate, made.certificate);
  EXPECT_EQ(read->key, made.key);
  // A group may share a key.
  EXPECT_TRUE(ReadIdentity(folder_ + "/a.pem", Put("a.key", made.key, 0640)).ok());
}

TEST_F(TlsFilesTest, SaysWhatIsWrongWithACertificate) {
  const TestIdentity made = authority_.Issue("DNS:a");
  const std::string certificate = Put("a.pem", made.certificate);
  const std::string key = Put("a.key", made.key);
  EXPECT_THAT(Said(ReadIdentity(certificate, "")), HasSubstr("needs its --tls-key"));
  EXPECT_THAT(Said(ReadIdentity("", key)), HasSubstr("needs its --tls-cert"));
  EXPECT_THAT(Said(ReadIdentity(key, key)), HasSubstr("must hold a certificate in PEM"));
  EXPECT_THAT(Said(ReadIdentity(folder_ + "/none", key)), HasSubstr("none"));
  const TestIdentity old = authority_.Issue("DNS:a", -7200, -3600);
  EXPECT_THAT(Said(ReadIdentity(Put("old.pem", old.certificate), Put("old.key", old.key))),
              AllOf(HasSubstr("old.pem"), HasSubstr("expired on 20"), HasSubstr(" UTC")));
  const TestIdentity early = authority_.Issue("DNS:a", 3600, 7200);
  EXPECT_THAT(Said(ReadIdentity(Put("early.pem", early.certificate), Put("early.key", early.key))),
              HasSubstr("is not valid before 20"));
}

TEST_F(TlsFilesTest, SaysWhatIsWrongWithAKey) {
  const TestIdentity made = authority_.Issue("DNS:a");
  const std::string certificate = Put("a.pem", made.certificate);
  EXPECT_THAT(Said(ReadIdentity(certificate, certificate)), HasSubstr("must hold a private key"));
  const TestIdentity other = authority_.Issue("DNS:a");
  EXPECT_THAT(Said(ReadIdentity(certificate, Put("other.key", other.key))),
              AllOf(HasSubstr("other.key"), HasSubstr("is not the key of the certificate"),
                    HasSubstr("a.pem")));
  EXPECT_THAT(Said(ReadIdentity(certificate, Put("open.key", made.key, 0644))),
              AllOf(HasSubstr("0644"), HasSubstr("chmod o=")));
}

TEST_F(TlsFilesTest, ATokenIsItsOwnersAlone) {
  const std::string token = *db::NewToken();
  EXPECT_EQ(*ReadTokenFile("token_file", Put("token", token + "\n")), token);
  EXPECT_EQ(*ReadTokenFile("token_file", Put("token", token, 0400)), token);
  for (const mode_t mode : {0640, 0604, 0620, 0602}) {
    EXPECT_THAT(Said(ReadTokenFile("token_file", Put("token", token, mode))),
                AllOf(HasSubstr("token_file = "), HasSubstr("chmod 600")));
  }
}

TEST_F(TlsFilesTest, WhatIsNoTokenIsNotRepeated) {
  EXPECT_THAT(Said(ReadTokenFile("token_file", Put("token", "secret"))),
              AllOf(HasSubstr("mwt_ and 64"), Not(HasSubstr("secret"))));
  EXPECT_THAT(Said(CheckToken("MESHWRIGHT_TOKEN", "secret")),
              AllOf(HasSubstr("MESHWRIGHT_TOKEN = (6 characters)"), Not(HasSubstr("secret"))));
}

}  // namespace
}  // namespace meshwright::cli
