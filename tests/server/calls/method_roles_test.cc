// Every method that the server offers has a role.
#include "server/calls/method_roles.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "meshwright/v1/agents.pb.h"
#include "meshwright/v1/planner.pb.h"
#include "meshwright/v1/standby.pb.h"
#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::server {
namespace {

using google::protobuf::FileDescriptor;

std::set<std::string> OwnMethods() {
  std::set<std::string> paths;
  for (const FileDescriptor* file :
       {v1::AgentMessage::descriptor()->file(), v1::AskRequest::descriptor()->file(),
        v1::SweepEvent::descriptor()->file(), v1::FollowRequest::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      const google::protobuf::ServiceDescriptor& service = *file->service(i);
      for (int j = 0; j < service.method_count(); ++j) {
        paths.insert("/" + service.full_name() + "/" + service.method(j)->name());
      }
    }
  }
  return paths;
}

TEST(MethodRolesTest, EveryMethodHasARole) {
  const std::set<std::string> methods = OwnMethods();
  EXPECT_GE(methods.size(), 20u);
  for (const std::string& path : methods) {
    const MethodRole* const method = RoleOfMethod(path);
    ASSERT_NE(method, nullptr) << path
                               << " stands in no list of roles (server/calls/method_roles.cc)";
    EXPECT_NE(method->needs, Needs::kNothing) << path;
  }
}

TEST(MethodRolesTest, NoRoleIsOfAMethodThatThereIsNot) {
  const std::set<std::string> methods = OwnMethods();
  std::set<std::string_view> seen;
  for (const MethodRole& method : MethodRoles()) {
    EXPECT_TRUE(seen.insert(method.path).second) << method.path;
    if (method.path.starts_with("/grpc.")) continue;
    EXPECT_TRUE(methods.count(std::string(method.path)) == 1) << method.path;
  }
}

TEST(MethodRolesTest, AnOperatorMayWhatAViewerMayAndAnAgentIsApart) {
  EXPECT_TRUE(MayCall(db::Role::kViewer, Needs::kViewer));
  EXPECT_TRUE(MayCall(db::Role::kOperator, Needs::kViewer));
  EXPECT_FALSE(MayCall(db::Role::kAgent, Needs::kViewer));
  EXPECT_FALSE(MayCall(db::Role::kViewer, Needs::kOperator));
  EXPECT_TRUE(MayCall(db::Role::kOperator, Needs::kOperator));
  EXPECT_FALSE(MayCall(db::Role::kAgent, Needs::kOperator));
  EXPECT_FALSE(MayCall(db::Role::kViewer, Needs::kAgent));
  EXPECT_FALSE(MayCall(db::Role::kOperator, Needs::kAgent));
  EXPECT_TRUE(MayCall(db::Role::kAgent, Needs::kAgent));
  EXPECT_EQ(RolesThatMay(Needs::kViewer), "viewer or operator");
  EXPECT_EQ(RolesThatMay(Needs::kOperator), "operator");
}

// What changes something is not a viewer's, whatever it is called.
TEST(MethodRolesTest, OnlyWhatReadsIsAViewers) {
  for (const MethodRole& method : MethodRoles()) {
    if (method.needs != Needs::kViewer || !method.path.starts_with("/meshwright.v1.Sweeps/"))
      continue;
    const std::string_view name = method.path.substr(method.path.rfind('/') + 1);
    EXPECT_TRUE(name.starts_with("Get") || name.starts_with("List") || name.starts_with("Watch"))
        << method.path;
  }
}

}  // namespace
}  // namespace meshwright::server
