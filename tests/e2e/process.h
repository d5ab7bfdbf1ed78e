// Process is a process that a test starts, with its output in files. The destructor kills a process
// that still runs.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace meshwright::cli {

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <typename Condition>
bool WaitFor(const Condition& condition, std::chrono::seconds timeout = std::chrono::seconds(60)) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

class Process {
 public:
  // `log` is a path without extension; standard output goes to .out, standard error to .err.
  Process(const std::vector<std::string>& command, const std::string& log) : log_(log) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      Redirect(log + ".out", STDOUT_FILENO);
      Redirect(log + ".err", STDERR_FILENO);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
  }
  ~Process() {
    if (running()) {
      Signal(SIGKILL);
      Wait();
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool running() {
    Poll(WNOHANG);
    return !exit_code_.has_value();
  }
  void Signal(int signal) const { kill(pid_, signal); }
  // Returns the exit code, or 128 + the signal that ended the process.
  int Wait() {
    Poll(0);
    return *exit_code_;
  }
  // Waits as Wait() does, but for at most `timeout`. Then kills the process and returns nullopt.
  std::optional<int> WaitWithin(std::chrono::seconds timeout) {
    if (WaitFor([this] { return !running(); }, timeout)) return exit_code_;
    Signal(SIGKILL);
    Wait();
    return std::nullopt;
  }
  pid_t pid() const { return pid_; }
  std::string out() const { return ReadFile(log_ + ".out"); }
  std::string err() const { return ReadFile(log_ + ".err"); }

 private:
  static void Redirect(const std::string& path, int to) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, to);
    close(fd);
  }
  void Poll(int options) {
    int status = 0;
    if (exit_code_ || waitpid(pid_, &status, options) != pid_) return;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string log_;
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
};

// BinaryTest is a fixture for tests of the binary `meshwright`, with a folder per test.
class BinaryTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* bin = std::getenv("MESHWRIGHT_BIN_DIR");
    ASSERT_NE(bin, nullptr);
    meshwright_ = std::string(bin) + "/meshwright";
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = testing::TempDir() + "/" + test + "-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!HasFailure()) std::filesystem::remove_all(folder_);
  }

  std::unique_ptr<Process> Start(const std::string& log, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), meshwright_);
    return std::make_unique<Process>(arguments, folder_ + "/" + log);
  }
  std::unique_ptr<Process> Serve(const std::string& log, const std::string& listen,
                                 const std::string& lease_s = "6",
                                 const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {
        "serve", "--db", folder_ + "/sweeps.db", "--listen", listen, "--lease-s", lease_s};
    words.insert(words.end(), more.begin(), more.end());
    auto server = Start(log, words);
    EXPECT_TRUE(WaitFor([&] {
      return server->out().find('\n') != std::string::npos || !server->running();
    })) << server->err();
    const std::string line = server->out();
    const std::string prefix = "listening on ";
    EXPECT_EQ(line.substr(0, prefix.size()), prefix) << server->err();
    address_ = line.substr(prefix.size(), line.find('\n') - prefix.size());
    return server;
  }

  std::string meshwright_;
  std::string folder_;
  std::string address_;
};

}  // namespace meshwright::cli
