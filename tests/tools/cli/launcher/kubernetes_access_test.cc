#include "tools/cli/launcher/kubernetes_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/text/field_error.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

class KubernetesAccessTest : public testing::Test {
 protected:
  KubernetesAccessTest() { std::filesystem::create_directories(folder_); }
  ~KubernetesAccessTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  absl::StatusOr<KubernetesAccess> Find(const KubernetesAccessFlags& flags) {
    return FindKubernetes(flags,
                          {.variable = [this](const char* name) -> std::optional<std::string> {
                             const auto found = variables_.find(name);
                             if (found == variables_.end()) return std::nullopt;
                             return found->second;
                           },
                           .account_folder = folder_});
  }
  void ExpectRefused(const KubernetesAccessFlags& flags, const std::string& field,
                     const std::string& sentence) {
    const absl::StatusOr<KubernetesAccess> found = Find(flags);
    ASSERT_FALSE(found.ok()) << flags.url;
    EXPECT_EQ(FieldOf(found.status()), field) << found.status();
    EXPECT_THAT(std::string(found.status().message()), HasSubstr(sentence));
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / "kubernetes_access_test";
  std::map<std::string, std::string> variables_;
};

TEST_F(KubernetesAccessTest, APodHasItsServiceAccount) {
  variables_ = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  Write("namespace", "training");
  Write("ca.crt", "certificates");
  Write("token", "first\n");
  const absl::StatusOr<KubernetesAccess> found = Find({});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->url, "https://[fd00::1]:443");
  EXPECT_EQ(found->ca_file, folder_ / "ca.crt");
  EXPECT_EQ(found->name_space, "training");
  EXPECT_EQ(found->Token().value(), "first");
  Write("token", "second");
  EXPECT_EQ(found->Token().value(), "second") << "Kubernetes renews the token in its file";
  std::filesystem::remove(folder_ / "token");
  EXPECT_EQ(FieldOf(found->Token().status()), "kube_token_file");
}

TEST_F(KubernetesAccessTest, FlagsReplaceTheServiceAccount) {
  const std::string token = Write("mine", "t");
  const std::string ca = Write("mine.pem", "c");
  const absl::StatusOr<KubernetesAccess> found = Find({"https://api.lab:6443//", ca, token});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->url, "https://api.lab:6443");
  EXPECT_EQ(found->Token().value(), "t");
  const absl::StatusOr<KubernetesAccess> proxy = Find({"http://127.0.0.1:8001", "", ""});
  ASSERT_TRUE(proxy.ok()) << proxy.status();
  EXPECT_EQ(proxy->Token().value(), "");
}

TEST_F(KubernetesAccessTest, RefusesWhatReachesNoServerOrWouldTellTheToken) {
  const std::string token = Write("mine", "t");
  ExpectRefused({}, "kube_api", "kubectl proxy");
  for (const char* url : {"api.lab:6443", "ftp://api.lab", "https://", "https://a/b", "https://a b",
                          "https://user@a"}) {
    ExpectRefused({url, "", ""}, "kube_api", "must be https://HOST:PORT");
  }
  ExpectRefused({"http://api.lab:8001", "", ""}, "kube_api", "must begin with https://");
  ExpectRefused({"http://127.0.0.1:8001", "", token}, "kube_token_file", "https://");
  ExpectRefused({"https://a", "/no/such", ""}, "kube_ca", "readable");
  ExpectRefused({"https://a", "", "/no/such"}, "kube_token_file", "readable");
  ExpectRefused({"https://a", "", Write("empty", " \n")}, "kube_token_file", "holds a token");
  ExpectRefused({"https://a", "", Write("two", "a\nb")}, "kube_token_file", "holds a token");
}

}  // namespace
}  // namespace meshwright::cli
