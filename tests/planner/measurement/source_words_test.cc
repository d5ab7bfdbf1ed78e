#include "planner/measurement/source_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(PlainWords, LeavesOutSpellingAndRemarks) {
  EXPECT_EQ(PlainWords("1F1B (DeepSpeed)"), "1f1b");
  EXPECT_EQ(PlainWords("1f1b-Interleaved"), "1f1b interleaved");
  EXPECT_EQ(PlainWords("zb_h1"), "zb h1");
  EXPECT_EQ(PlainWords("(all of it)"), "");
  EXPECT_EQ(PlainWords("never ) closed ("), "never ) closed");
}

TEST(MeaningOfSchedule, GoesByMeaning) {
  EXPECT_THAT(MeaningOfSchedule("1f1b (DeepSpeed)").kind, Optional(ScheduleKind::k1f1b));
  EXPECT_THAT(MeaningOfSchedule("Interleaved 1F1B").kind, Optional(ScheduleKind::kInterleaved));
  EXPECT_THAT(MeaningOfSchedule("FSDP2 (reshard)").kind, Optional(ScheduleKind::k1f1b));
  EXPECT_THAT(MeaningOfSchedule("1f1b-vocab-1").kind, Optional(ScheduleKind::k1f1bVocab1));
  EXPECT_THAT(MeaningOfSchedule("1F1B + Vocab-2").kind, Optional(ScheduleKind::k1f1bVocab2));
  EXPECT_THAT(MeaningOfSchedule("1f1b+redis").kind, Optional(ScheduleKind::k1f1b));
  EXPECT_TRUE(MeaningOfSchedule("1f1b+redis").evens_stages);
  EXPECT_FALSE(MeaningOfSchedule("1f1b").evens_stages);
  EXPECT_EQ(MeaningOfSchedule("DualPipe").kind, std::nullopt);
  EXPECT_NE(MeaningOfSchedule("DualPipe").known_as, "");
  EXPECT_EQ(MeaningOfSchedule("magic").kind, std::nullopt);
  EXPECT_EQ(MeaningOfSchedule("magic").known_as, "");
}

TEST(MeaningOfAttention, OnlyWhatIsNamedIsNotTheFrameworksOwn) {
  EXPECT_THAT(MeaningOfAttention("fused"), Optional(AttentionKernel::kDefault));
  EXPECT_THAT(MeaningOfAttention("TE flash/cudnn"), Optional(AttentionKernel::kDefault));
  EXPECT_THAT(MeaningOfAttention("flash2"), Optional(AttentionKernel::kFlash2));
  EXPECT_THAT(MeaningOfAttention("unfused (pre-flash)"), Optional(AttentionKernel::kFusedSoftmax));
  EXPECT_EQ(MeaningOfAttention("linear"), std::nullopt);
}

TEST(MeaningOfPeakRank, IsWhatARemarkAboutMemorySays) {
  EXPECT_THAT(MeaningOfPeakRank("golden values; memory is of the LAST rank (last pipeline stage)"),
              Optional(PeakRank::kLast));
  EXPECT_THAT(MeaningOfPeakRank("peak_mem is torch max_memory_reserved of rank 0; tied embeddings"),
              Optional(PeakRank::kFirst));
  EXPECT_THAT(MeaningOfPeakRank("peak_mem is max over ranks of the log"),
              Optional(PeakRank::kFullest));
  EXPECT_EQ(MeaningOfPeakRank("loss of the last rank; memory not printed"), std::nullopt);
  EXPECT_EQ(MeaningOfPeakRank(""), std::nullopt);
}

TEST(NotedOption, IsInWholeWordsOfARemark) {
  EXPECT_EQ(NotedOption("states", "a; Pure bf16 AdamW of 6 bytes per parameter"), "bf16");
  EXPECT_EQ(NotedOption("states", "impure bf16 AdamW"), "");
  EXPECT_EQ(NotedOption("experts", "EP2 and experts replicated over the 4 groups"), "replicated");
  EXPECT_EQ(NotedOption("states", "pure; bf16 AdamW"), "");
  EXPECT_EQ(NotedOption("optimizer", "test case moe_resume_dist_muon_1node"), "muon");
  EXPECT_EQ(NotedOption("optimizer", "muons; (muon)"), "");
  EXPECT_EQ(NotedOption("loss", "pure bf16 AdamW"), "");
}

TEST(NotedOption, MayNeedWordsOfItsSource) {
  EXPECT_EQ(NotedOption("train", "LoRA finetuning (packed)"), "");
  EXPECT_NE(NotedOption("train", "NeMo 24.07 container; LoRA finetuning (packed)"), "");
  EXPECT_NE(NotedOption("train", "dgxc-benchmarking v25.02; LoRA finetuning (packed)"), "");
}

TEST(MeaningOfRecompute, KnowsYesAndNo) {
  EXPECT_THAT(MeaningOfRecompute("Full (uniform)"), Optional(Recompute::kFull));
  EXPECT_THAT(MeaningOfRecompute("off"), Optional(Recompute::kNone));
  EXPECT_EQ(MeaningOfRecompute("some"), std::nullopt);
}

}  // namespace
}  // namespace meshwright::planner
