#include "tests/tools/schema/proto_comments.h"

#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/ascii.h"
#include "google/protobuf/descriptor.pb.h"

namespace meshwright::cli {
namespace {

template <typename Described>
std::string CommentBefore(const Described* described) {
  google::protobuf::SourceLocation location;
  if (described == nullptr || !described->GetSourceLocation(&location)) return "";
  std::string comment = location.leading_comments;
  absl::RemoveExtraAsciiWhitespace(&comment);
  if (comment.ends_with('.') && !comment.ends_with("...")) comment.pop_back();
  return comment;
}

}  // namespace

ProtoComments::ProtoComments() : pool_(&files_) {
  google::protobuf::FileDescriptorSet set;
  std::ifstream file(MESHWRIGHT_PROTO_COMMENTS, std::ios::binary);
  EXPECT_TRUE(set.ParseFromIstream(&file)) << MESHWRIGHT_PROTO_COMMENTS;
  for (const google::protobuf::FileDescriptorProto& one : set.file()) files_.Add(one);
}

std::string ProtoComments::Of(const google::protobuf::Descriptor& message) const {
  return CommentBefore(pool_.FindMessageTypeByName(message.full_name()));
}

std::string ProtoComments::Of(const google::protobuf::FieldDescriptor& field) const {
  return CommentBefore(pool_.FindFieldByName(field.full_name()));
}

}  // namespace meshwright::cli
