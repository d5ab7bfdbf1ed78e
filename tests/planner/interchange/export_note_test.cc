#include "planner/interchange/export_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string Note(const char* framework, const char* model, const std::vector<const char*>& layouts,
                 const OptionValues& options = {}) {
  std::vector<RankedLayout> ranked;
  for (const char* layout : layouts) ranked.push_back({MakeLayout(layout), {}, options});
  return NoteOnExports(framework, FindModel(model).value(), FindCluster("h100", 1).value(),
                       {.seq_len = 4096, .global_batch = 64}, ranked)
      .value_or("");
}

TEST(NoteOnExports, IsThereOnlyWhereOneIsRefused) {
  EXPECT_EQ(Note("megatron", "llama-3-8b", {"tp2.pp2.dp4.zero1.sp1", "dp16.zero1"}), "");
  EXPECT_EQ(Note("megatron", "llama-3-8b", {}), "");
}

TEST(NoteOnExports, NamesTheKeyAndWhatTheFrameworkHas) {
  EXPECT_EQ(Note("deepspeed", "llama-3-8b", {"cp2.dp8.zero2"}),
            "export --to deepspeed refuses this layout: cp2: DeepSpeed's file has no key for it; "
            "must be cp1");
}

TEST(NoteOnExports, CountsTheLayoutsAsTheAnswerDoes) {
  EXPECT_EQ(Note("automodel", "llama-3-8b",
                 {"dp16.zero3", "dp16.rc=selective", "tp2.dp8.zero3.sp1", "dp16.rc=full"}),
            "export --to automodel refuses layouts 2 and 4: zero0: AutoModel's FSDP2 always "
            "shards weights; must be zero3");
  EXPECT_THAT(
      Note("verl", "llama-3-8b", {"tp2.dp8.zero3", "dp16.zero3", "cp2.dp8.zero3.rc=block:2"}),
      AllOf(HasSubstr("refuses layout 1: tp2: verl's FSDP engine"),
            HasSubstr("; and 3 for other reasons")));
}

TEST(NoteOnExports, SaysOfAModelThatAllLayoutsAreRefused) {
  EXPECT_THAT(Note("torchtitan", "mixtral-8x7b", {"dp16.zero3", "dp16.zero2"}),
              AllOf(HasSubstr("refuses these layouts: num_local_experts = 8: torchtitan has no"),
                    Not(HasSubstr("layout 1"))));
}

// LLaMA-Factory's file has DeepSpeed's keys, and so do others of that profile.
TEST(NoteOnExports, IsAboutTheFrameworkThatTheUserNames) {
  EXPECT_THAT(Note("LLaMA-Factory", "llama-3-8b", {"cp2.dp8.zero2"}),
              HasSubstr("export --to llamafactory refuses this layout: cp2"));
  EXPECT_THAT(Note("trl", "llama-3-8b", {"tp2.dp8.zero1"}),
              HasSubstr("export --to accelerate refuses this layout: zero1"));
}

TEST(NoteOnExports, LooksAtTheOptionsOfTheLayout) {
  EXPECT_EQ(Note("nanotron", "llama-3-8b", {"dp16.zero1"}), "");
  EXPECT_THAT(Note("nanotron", "llama-3-8b", {"dp16.zero1"}, {{"loss", "chunked:8"}}),
              HasSubstr("loss = chunked:8"));
}

TEST(NoteOnExports, KnowsNoExportOfSomePrograms) {
  EXPECT_EQ(Note("torchtune", "llama-3-8b", {"tp2.dp8.zero1"}), "");
  EXPECT_EQ(Note("meshwright", "llama-3-8b", {"tp2.dp8.zero1"}), "");
}

}  // namespace
}  // namespace meshwright::planner
