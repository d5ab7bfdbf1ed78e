// What people hand in as --model, tried through the command line.
#include "tools/cli/common/model_source.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";
constexpr const char* kOtherCommit = "89abcdef0123456789abcdef0123456789abcdef";

class ModelSource : public testing::Test {
 protected:
  ModelSource()
      : folder_(fs::path(testing::TempDir()) / ("model-source-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(cache());
    variables_["HF_HUB_CACHE"] = cache().string();
  }
  ~ModelSource() override { fs::remove_all(folder_); }

  fs::path cache() const { return folder_ / "hub"; }
  fs::path repository() const { return cache() / "models--Qwen--Qwen3-8B"; }

  // Returns the path as people type it.
  std::string Write(const fs::path& path, std::string_view text) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
    return (folder_ / path).string();
  }
  static std::string Preset(const char* name) {
    return std::string(planner::ModelText(name).value());
  }
  // Writes a snapshot as the Hub's programs do: the file is a link to a blob.
  void Cache(const char* commit, std::string_view text = Preset("qwen3-8b")) {
    const fs::path blob = Write(fs::relative(repository(), folder_) / "blobs" / commit, text);
    fs::create_directories(repository() / "snapshots" / commit);
    fs::create_symlink(blob, repository() / "snapshots" / commit / "config.json");
  }
  void SetMain(const char* commit) {
    fs::create_directories(repository() / "refs");
    std::ofstream(repository() / "refs" / "main") << commit;
  }

  CommandOutput Estimate(const std::string& model, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"estimate",       "--details",
                                      "--model",        model,
                                      "--cluster",      "h100",
                                      "--gpus",         "8",
                                      "--seq-len",      "4096",
                                      "--global-batch", "8",
                                      "--layout",       "tp8.pp1.dp1.mb1.sp1",
                                      "--exit-zero"};
    words.insert(words.end(), more.begin(), more.end());
    return RunCommand(words, "/nonexistent", kNeverInterrupted, {{}, "there is none"},
                      [this](const std::string& name) -> std::optional<std::string> {
                        const auto found = variables_.find(name);
                        if (found == variables_.end()) return std::nullopt;
                        return found->second;
                      });
  }
  // Returns what is printed of a model that is read.
  std::string Read(const std::string& model) {
    const CommandOutput run = Estimate(model);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out;
  }
  // Returns the refusal of a model.
  std::string Refused(const std::string& model) {
    const CommandOutput run = Estimate(model);
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, StartsWith("meshwright: --model"));
    return run.err;
  }

  fs::path folder_;
  std::map<std::string, std::string> variables_;
};

TEST_F(ModelSource, OfTheHubIsFoundInTheCache) {
  Cache(kOtherCommit, Preset("qwen3-4b"));
  Cache(kCommit);
  SetMain(kCommit);
  for (const char* name : {"Qwen/Qwen3-8B", "https://huggingface.co/Qwen/Qwen3-8B",
                           "https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json"}) {
    EXPECT_THAT(Read(name), StartsWith("Qwen3-8B (8.19 B parameters)")) << name;
  }
  EXPECT_THAT(Read(std::string("https://huggingface.co/Qwen/Qwen3-8B/tree/") + kOtherCommit),
              StartsWith("Qwen3-8B (4.02 B parameters)"));
  EXPECT_THAT(Read(repository().string()), StartsWith("Qwen3-8B (8.19 B parameters)"));
  EXPECT_THAT(Read(repository().string() + "/"), StartsWith("Qwen3-8B ("));
  EXPECT_THAT(Read((repository() / "snapshots" / kOtherCommit).string()),
              StartsWith("Qwen3-8B (4.02 B parameters)"));
}

TEST_F(ModelSource, OfTheHubIsFoundBelowHfHome) {
  variables_ = {{"HF_HOME", folder_.string()}};
  Cache(kCommit);
  SetMain(kCommit);
  EXPECT_THAT(Read("Qwen/Qwen3-8B"), StartsWith("Qwen3-8B ("));
}

TEST_F(ModelSource, ThatIsNotCachedIsFetchedWithOneCommand) {
  const std::string refusal = Refused("Qwen/Qwen3-8B");
  EXPECT_THAT(refusal, HasSubstr("fetch the file with: hf download Qwen/Qwen3-8B config.json\n"));
  EXPECT_THAT(refusal, HasSubstr("--model qwen3-8b"));
  EXPECT_THAT(refusal, HasSubstr(cache().string()));
  EXPECT_THAT(Refused("someone/new-model"), Not(HasSubstr("preset")));
  EXPECT_THAT(Refused("https://huggingface.co/Qwen/Qwen3-8B/tree/v2"),
              HasSubstr("hf download Qwen/Qwen3-8B config.json --revision v2\n"));
  EXPECT_THAT(Refused("https://example.com/model"), HasSubstr("must be https://huggingface.co"));
  variables_.clear();
  EXPECT_THAT(Refused("Qwen/Qwen3-8B"), HasSubstr("neither HF_HUB_CACHE nor HOME is set"));
}

TEST_F(ModelSource, OfTheCacheWithoutRefsIsTheOnlySnapshot) {
  Cache(kCommit);
  EXPECT_THAT(Read("Qwen/Qwen3-8B"), StartsWith("Qwen3-8B ("));
  Cache(kOtherCommit);
  EXPECT_THAT(Refused("Qwen/Qwen3-8B"),
              AllOf(HasSubstr("and has no refs/main"), HasSubstr(kCommit), HasSubstr(kOtherCommit),
                    HasSubstr("hf download Qwen/Qwen3-8B config.json")));
}

TEST_F(ModelSource, OfABrokenCacheSaysWhatIsBroken) {
  fs::create_directories(repository() / "snapshots");
  const char* const fetch = "hf download Qwen/Qwen3-8B config.json";
  EXPECT_THAT(Refused("Qwen/Qwen3-8B"), AllOf(HasSubstr("no snapshot of main"), HasSubstr(fetch)));
  // A commit that is gone, and one that leads out of the folder.
  for (const char* commit : {kCommit, "../../..", ""}) {
    SetMain(commit);
    EXPECT_THAT(Refused("Qwen/Qwen3-8B"), HasSubstr(fetch)) << commit;
  }
  // Weights alone were fetched.
  SetMain(kCommit);
  fs::create_directories(repository() / "snapshots" / kCommit);
  EXPECT_THAT(Refused("Qwen/Qwen3-8B"), AllOf(HasSubstr("has no config.json"), HasSubstr(fetch)));
  // The blob was removed.
  Cache(kCommit);
  fs::remove_all(repository() / "blobs");
  EXPECT_THAT(Refused("Qwen/Qwen3-8B"),
              AllOf(HasSubstr("is a link to"), HasSubstr("does not exist"), HasSubstr(fetch)));
  EXPECT_THAT(Refused((repository() / "snapshots" / kCommit).string()), HasSubstr(fetch));
}

TEST_F(ModelSource, OfATrainingRunIsItsLastCheckpoint) {
  Write("outputs/checkpoint-900/config.json", Preset("qwen3-4b"));
  const std::string outputs = (folder_ / "outputs").string();
  EXPECT_THAT(Read(outputs), AllOf(StartsWith("outputs (4.02 B"), Not(HasSubstr("checkpoints"))));
  Write("outputs/checkpoint-1000/config.json", Preset("qwen3-8b"));
  Write("outputs/checkpoint-last/config.json", "{}");
  Write("outputs/checkpoint-99999", "a file");
  EXPECT_THAT(Read(outputs), AllOf(StartsWith("outputs (8.19 B parameters)"),
                                   HasSubstr("of 2 checkpoints, the model is that of "
                                             "checkpoint-1000")));
  // One that was cut off is passed over.
  fs::create_directories(folder_ / "outputs/checkpoint-1100");
  EXPECT_THAT(Read(outputs), StartsWith("outputs (8.19 B parameters)"));
  // What the run saved at its end counts.
  Write("outputs/config.json", Preset("qwen3-1.7b"));
  EXPECT_THAT(Read(outputs + "/"), StartsWith("outputs (1.72 B parameters)"));
}

TEST_F(ModelSource, OfAFolderWithoutAFileIsRefused) {
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT(Refused((folder_ / "empty").string()),
              AllOf(HasSubstr("has no config.json"), HasSubstr("adapter_config.json"),
                    HasSubstr("checkpoint-N")));
  fs::create_directories(folder_ / "outputs/checkpoint-5");
  EXPECT_THAT(Refused((folder_ / "outputs").string()),
              HasSubstr("none of its 1 checkpoints has a config.json"));
  EXPECT_THAT(Refused((folder_ / "absent.json").string()), HasSubstr("cannot be read"));
  EXPECT_THAT(Refused((folder_ / "no/such/folder").string()), HasSubstr("cannot be read"));
}

TEST_F(ModelSource, MayBeAParamsFile) {
  constexpr char kParams[] = R"({"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8,
                                 "vocab_size": 128256, "multiple_of": 1024, "norm_eps": 1e-5,
                                 "ffn_dim_multiplier": 1.3, "rope_theta": 500000.0})";
  const std::string file = Write("llama3/params.json", kParams);
  for (const std::string& model : {file, (folder_ / "llama3").string()}) {
    EXPECT_THAT(Read(model), AllOf(StartsWith("llama3 (8.03 B parameters)"),
                                   HasSubstr("whether embedding and head share one matrix")));
  }
  EXPECT_THAT(Refused(Write("bad/params.json", R"({"dim": 0, "n_layers": 1})")),
              AllOf(HasSubstr("bad/params.json"), HasSubstr("dim = 0")));
}

TEST_F(ModelSource, MayBeAnAdapter) {
  const auto adapter = [](const std::string& base) {
    return R"({"peft_type": "LORA", "r": 16, "target_modules": ["q_proj"],
               "base_model_name_or_path": ")" +
           base + "\"}";
  };
  const std::string lora = (folder_ / "lora").string();
  Write("lora/adapter_config.json", adapter("someone/else-8b"));
  EXPECT_THAT(Refused(lora), AllOf(HasSubstr("lora/adapter_config.json"),
                                   HasSubstr("base_model_name_or_path = someone/else-8b: "),
                                   HasSubstr("hf download someone/else-8b config.json")));
  Write("lora/adapter_config.json", adapter("Qwen/Qwen3-8B"));
  EXPECT_THAT(Read(lora), AllOf(StartsWith("qwen3-8b (8.19 B parameters, 4.7 M trainable)"),
                                HasSubstr("the file of Qwen/Qwen3-8B is not in the Hub's cache; "
                                          "its sizes are those of the preset qwen3-8b")));
  Cache(kCommit);
  SetMain(kCommit);
  EXPECT_THAT(Read(lora), AllOf(StartsWith("Qwen3-8B (8.19 B parameters, 4.7 M trainable)"),
                                HasSubstr(", train lora:16:q_proj"),
                                HasSubstr("planned as the base model Qwen/Qwen3-8B with the "
                                          "adapter (LoRA of rank 16 on q_proj)")));
  EXPECT_THAT(Estimate(lora, {"--train", "full"}).out, Not(HasSubstr("trainable")));
  const CommandOutput run = Estimate(lora, {"--format", "json"});
  EXPECT_THAT(nlohmann::json::parse(run.out)["notes"][0].get<std::string>(),
              HasSubstr("LoRA of rank 16"));
  // A folder of the same machine, or one beside the adapter.
  Write("base/config.json", Preset("qwen3-4b"));
  Write("lora/adapter_config.json", adapter((folder_ / "base").string()));
  EXPECT_THAT(Read(lora), StartsWith("base (4.02 B parameters, "));
  Write("lora/adapter_config.json", adapter("../base"));
  EXPECT_THAT(Read(lora), StartsWith("base (4.02 B parameters, "));
  // Some save the base model's file beside it.
  Write("lora/config.json", Preset("qwen3-1.7b"));
  EXPECT_THAT(Read(lora), AllOf(StartsWith("lora (1.72 B parameters, "), HasSubstr("rank 16")));
}

TEST_F(ModelSource, OfAnAdapterThatIsItsOwnBaseIsRefused) {
  const fs::path lora = folder_ / "lora";
  const auto adapter = [](const std::string& base) {
    return R"({"base_model_name_or_path": ")" + base + "\"}";
  };
  Write("lora/adapter_config.json", adapter(lora.string()));
  EXPECT_THAT(Refused(lora.string()), HasSubstr("without end"));
  Write("lora/adapter_config.json", adapter(""));
  EXPECT_THAT(Refused(lora.string()), HasSubstr("must name the model"));
  Write("lora/adapter_config.json", adapter("no-such-model"));
  EXPECT_THAT(Refused(lora.string()), HasSubstr("'no-such-model' is not known"));
}

TEST_F(ModelSource, MayHaveAnySpelling) {
  EXPECT_THAT(Read("Llama_3.3_70B_Instruct"), StartsWith("llama-3.3-70b (70.55 B parameters)"));
  EXPECT_THAT(Read("GPT OSS 20B"), StartsWith("gpt-oss-20b ("));
  // What is there under the typed name goes first.
  const fs::path before = fs::current_path();
  Write("Llama-2-7B-chat-hf/config.json", Preset("qwen3-4b"));
  fs::current_path(folder_);
  EXPECT_THAT(Read("Llama-2-7B-chat-hf"), StartsWith("Llama-2-7B-chat-hf (4.02 B"));
  EXPECT_THAT(Read("LLAMA-2-7B"), StartsWith("llama-2-7b (6.74 B"));
  fs::current_path(folder_ / "Llama-2-7B-chat-hf");
  EXPECT_THAT(Read("."), StartsWith("Llama-2-7B-chat-hf ("));
  fs::current_path(before);
}

TEST_F(ModelSource, ThatIsUnknownIsSuggestedByFamily) {
  EXPECT_THAT(Refused("gemma-3-27b"), HasSubstr("nearest: gemma-3-12b, gemma-3-"));
}

// Puts a text in place of standard input while it lives.
class StandardInput {
 public:
  explicit StandardInput(std::string_view text) : before_(::dup(STDIN_FILENO)) {
    int ends[2] = {};
    EXPECT_EQ(::pipe(ends), 0);
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
  }
  ~StandardInput() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

TEST_F(ModelSource, MayBeStandardInput) {
  const StandardInput input(Preset("qwen3-8b"));
  EXPECT_THAT(Read("-"), StartsWith("stdin (8.19 B parameters)"));
}

TEST_F(ModelSource, OfStandardInputIsRefusedLikeAFile) {
  {
    const StandardInput input("");
    EXPECT_THAT(Refused("-"), HasSubstr("standard input is empty"));
  }
  {
    const StandardInput input("{}");
    EXPECT_THAT(Refused("-"), HasSubstr("--model -: "));
  }
  const StandardInput input(Preset("qwen3-8b"));
  const CommandOutput run = Estimate("-", {"--framework", "-"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--framework -: standard input is what --model reads"));
}

TEST_F(ModelSource, OtherSpecsMayBeStandardInputToo) {
  const StandardInput input(planner::ProfileText("megatron").value());
  const CommandOutput run = Estimate("qwen3-8b", {"--framework", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("framework stdin"));
}

}  // namespace
}  // namespace meshwright::cli
