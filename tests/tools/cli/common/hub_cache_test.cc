#include "tools/cli/common/hub_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/text/field_error.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

// Returns ORG/NAME, or ORG/NAME@REVISION; empty if the text is no model of the Hub.
std::string Parsed(std::string_view text) {
  const auto model = ParseHubModel("model", text);
  if (!model.ok()) return "error";
  if (!model->has_value()) return "";
  const HubModel& found = **model;
  return found.id + (found.revision.empty() ? "" : "@" + found.revision);
}

TEST(HubModel, IsAnIdOrAnAddress) {
  EXPECT_EQ(Parsed("Qwen/Qwen3-8B"), "Qwen/Qwen3-8B");
  for (const char* url :
       {"https://huggingface.co/Qwen/Qwen3-8B", "http://huggingface.co/Qwen/Qwen3-8B/",
        "huggingface.co/Qwen/Qwen3-8B", "https://hf.co/Qwen/Qwen3-8B?library=vllm",
        "https://huggingface.co/Qwen/Qwen3-8B/tree/main",
        "https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json#L3",
        "https://huggingface.co/Qwen/Qwen3-8B/discussions"}) {
    EXPECT_EQ(Parsed(url), "Qwen/Qwen3-8B") << url;
  }
  EXPECT_EQ(Parsed("https://huggingface.co/Qwen/Qwen3-8B/resolve/v1.0/config.json"),
            "Qwen/Qwen3-8B@v1.0");
  EXPECT_EQ(Parsed("https://huggingface.co/gpt2"), "gpt2");
  EXPECT_EQ(Parsed("https://huggingface.co/gpt2/tree/main"), "gpt2");
}

TEST(HubModel, IsNoPath) {
  for (const char* path :
       {"qwen3-8b", "./Qwen3-8B", "../Qwen3-8B", "/models/Qwen3-8B", "~/Qwen3-8B", "a/b/c",
        "folder/config.json", "folder/", "a b/c", "-x/y", "a--b/c"}) {
    EXPECT_EQ(Parsed(path), "") << path;
  }
}

TEST(HubModel, IsOnNoOtherSite) {
  for (const char* url : {"https://example.com/Qwen/Qwen3-8B", "https://huggingface.co/",
                          "https://huggingface.co/datasets/a/b", "https://huggingface.co/a b/c",
                          "https://huggingface.co/a/b/tree/..", "https://"}) {
    EXPECT_EQ(Parsed(url), "error") << url;
  }
  const absl::Status status = ParseHubModel("model", "https://example.com/x").status();
  EXPECT_EQ(FieldOf(status), "model");
  EXPECT_THAT(std::string(status.message()), HasSubstr("must be https://huggingface.co/ORG/NAME"));
}

TEST(HubModel, IsNamedByItsFolder) {
  EXPECT_EQ(HubModelOfFolder("models--Qwen--Qwen3-8B")->id, "Qwen/Qwen3-8B");
  EXPECT_EQ(HubModelOfFolder("models--gpt2")->id, "gpt2");
  for (const char* name : {"datasets--a--b", "models--", "models--a--b--c", "models--a--", ""}) {
    EXPECT_FALSE(HubModelOfFolder(name).has_value()) << name;
  }
  EXPECT_EQ(FolderInCache("/c", {"Qwen/Qwen3-8B", ""}), "/c/models--Qwen--Qwen3-8B");
}

TEST(HubModel, IsFetchedWithOneCommand) {
  EXPECT_EQ(FetchCommand({"Qwen/Qwen3-8B", ""}), "hf download Qwen/Qwen3-8B config.json");
  EXPECT_EQ(FetchCommand({"Qwen/Qwen3-8B", "v1.0"}),
            "hf download Qwen/Qwen3-8B config.json --revision v1.0");
}

TEST(HubCache, IsWhereTheEnvironmentSays) {
  std::map<std::string, std::string> variables;
  const auto folder = [&] {
    return HubCacheFolder([&](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    });
  };
  EXPECT_EQ(folder(), "");
  variables["HOME"] = "/home/me";
  EXPECT_EQ(folder(), "/home/me/.cache/huggingface/hub");
  variables["XDG_CACHE_HOME"] = "/caches";
  EXPECT_EQ(folder(), "/caches/huggingface/hub");
  variables["HF_HOME"] = "~/hf";
  EXPECT_EQ(folder(), "/home/me/hf/hub");
  variables["HF_HUB_CACHE"] = "/hub";
  EXPECT_EQ(folder(), "/hub");
  variables["HF_HUB_CACHE"] = "";
  EXPECT_EQ(folder(), "/home/me/hf/hub");
  EXPECT_EQ(HubCacheFolder({}), "");
}

}  // namespace
}  // namespace meshwright::cli
