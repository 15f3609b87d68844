#include "base/folder_in_use.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "gtest/gtest.h"

namespace ingot {
namespace {

class FolderInUseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/folder-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    parent_ = open(name.c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_GE(parent_, 0);
  }
  void TearDown() override { close(parent_); }

  int parent_ = -1;
};

TEST_F(FolderInUseTest, IsNotTakenOverWhileItsProcessLives) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    const bool made = MakeFolderInUse(parent_, "x") >= 0;
    static_cast<void>(!write(told[1], made ? "1" : "0", 1));
    pause();
    _exit(0);
  }
  char made = 0;
  ASSERT_EQ(read(told[0], &made, 1), 1);
  EXPECT_EQ(made, '1');
  EXPECT_EQ(TakeAbandoned(parent_, "x"), -1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const int taken = TakeAbandoned(parent_, "x");
  EXPECT_GE(taken, 0);
  // By one process only.
  EXPECT_EQ(TakeAbandoned(parent_, "x"), -1);
  close(taken);
  close(told[0]);
  close(told[1]);
}

TEST_F(FolderInUseTest, IsNotTakenOverWithoutAMark) {
  ASSERT_EQ(mkdirat(parent_, "x", 0777), 0);
  EXPECT_EQ(TakeAbandoned(parent_, "x"), -1);
}

// Its owner could make it lead to any folder of ours before that is removed.
TEST_F(FolderInUseTest, LinksAreNotTakenOver) {
  const int mark = MakeFolderInUse(parent_, "x");
  ASSERT_GE(mark, 0);
  close(mark);
  ASSERT_EQ(symlinkat("x", parent_, "link"), 0);
  EXPECT_EQ(TakeAbandoned(parent_, "link"), -1);
  const int taken = TakeAbandoned(parent_, "x");
  EXPECT_GE(taken, 0);
  close(taken);
}

TEST_F(FolderInUseTest, IsNew) {
  const int mark = MakeFolderInUse(parent_, "x");
  EXPECT_GE(mark, 0);
  EXPECT_EQ(MakeFolderInUse(parent_, "x"), -1);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(TakeAbandoned(parent_, "x"), -1);
  close(mark);
}

}  // namespace
}  // namespace ingot
