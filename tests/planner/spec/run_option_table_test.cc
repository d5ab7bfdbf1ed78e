#include "planner/spec/run_option_table.h"

#include <gtest/gtest.h>

#include "base/text/field_error.h"

namespace meshwright::planner {
namespace {

const RunOption& Named(std::string_view name) {
  for (const RunOption& option : kRunOptions) {
    if (option.name == name) return option;
  }
  ADD_FAILURE() << name;
  return kRunOptions.front();
}

std::string Again(std::string_view name, std::string_view value) {
  RunOptions options;
  const absl::Status status = Named(name).read(value, options);
  return status.ok() ? Named(name).text(options) : std::string(FieldOf(status));
}

TEST(RunOptions, AreReadAsTheyAreWritten) {
  for (const char* value : {"default", "fp32", "bf16", "adam8bit", "precision-aware", "bf16-grads",
                            "master=none,grad=fp16,m=fp8,v=int8", "v=bf16"}) {
    EXPECT_EQ(Again("states", value), value);
  }
  for (const char* value : {"plain", "fused", "chunked:2", "chunked:4096"}) {
    EXPECT_EQ(Again("loss", value), value);
  }
  for (const char* value : {"none", "1", "2048", "padded", "padded:700"}) {
    EXPECT_EQ(Again("documents", value), value);
  }
  for (const char* value : {"default", "on", "off"}) EXPECT_EQ(Again("compile", value), value);
  for (const char* value : {"default", "none", "attention", "layer", "iteration"}) {
    EXPECT_EQ(Again("cuda_graphs", value), value);
  }
  for (const char* value : {"default", "alltoall", "allgather", "deepep", "hybridep"}) {
    EXPECT_EQ(Again("dispatcher", value), value);
  }
  for (const char* value : {"full", "qlora:64", "frozen:tower"}) {
    EXPECT_EQ(Again("train", value), value);
  }
}

TEST(RunOptions, AListThatIsANamedOneHasItsName) {
  EXPECT_EQ(Again("states", "master=none,grad=bf16,m=int8,v=int8"), "adam8bit");
  EXPECT_EQ(Again("states", "v=int8,m=int8,grad=bf16,master=none"), "adam8bit");
}

TEST(RunOptions, OthersAreRefusedByName) {
  for (const char* value : {"", "bf32", "m=", "m=none", "grad=int8", "grad=fp8", "m=bf16,m=fp32",
                            "weights=bf16", "bf16,fp32"}) {
    EXPECT_EQ(Again("states", value), "states") << value;
  }
  for (const char* value : {"", "chunked", "chunked:1", "chunked:4097", "chunked:x", "fused:2"}) {
    EXPECT_EQ(Again("loss", value), "loss") << value;
  }
  for (const char* name : {"compile", "cuda_graphs", "dispatcher"}) {
    for (const char* value : {"", "yes", "On"}) EXPECT_EQ(Again(name, value), name) << value;
  }
  for (const char* value :
       {"", "0", "-1", "many", "16777217", "padded:", "padded:0", "padded700"}) {
    EXPECT_EQ(Again("documents", value), "documents") << value;
  }
}

TEST(RunOptions, AreDefaultsUnlessSaid) {
  for (const RunOption& option : kRunOptions) EXPECT_TRUE(HasDefault(option, RunOptions()));
  EXPECT_FALSE(HasDefault(Named("loss"), {.loss_chunks = 8}));
  EXPECT_FALSE(HasDefault(Named("states"), {.states = {.gradient = StateFormat::kBf16}}));
  EXPECT_FALSE(HasDefault(Named("documents"), {.document_tokens = 5}));
}

}  // namespace
}  // namespace meshwright::planner
