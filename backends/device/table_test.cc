#include "backends/device/table.h"

#include <string>

#include "backends/device/read_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::device {
namespace {

using ::testing::HasSubstr;

std::vector<TableFunction> Two() {
  TableFunction add{"add",
                    "Add_1, Relu_2",
                    {{{DataType::Float(32), {2, 3}}, {DataType::Float(32), {}}},
                     {{DataType::Float(32), {2, 3}}}},
                    {{"add_0", 6}}};
  TableFunction sum{"sum",
                    "",
                    {{{DataType::Int(64), {0}}}, {{DataType::Int(64), {1}}}},
                    {{"sum_0", 1}, {"sum_1", 512, 256, 65536}}};
  const TensorSpec x{DataType::Float(16), {3, 100, 72}};
  TableFunction copy{
      "copy",
      "",
      {{x}, {x}},
      {{"copy_0", 64, 64, 0, {{0, x.dtype, x.shape, {1, 8, 64}}}}}};
  return {add, sum, copy};
}

TEST(Table, ReadsWhatItWrites) {
  const std::string text = WriteTable(Two());
  EXPECT_THAT(text, HasSubstr("function add\n"
                              "  # Add_1, Relu_2\n"
                              "  input f32 2 3\n"
                              "  input f32\n"
                              "  output f32 2 3\n"
                              "  launch add_0 6\n"));
  const auto read = ReadTable(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(text, HasSubstr("  launch copy_0 64 64\n    boxes 0 1 8 64\n"));
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[1].name, "sum");
  EXPECT_EQ((*read)[0].spec.inputs[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((*read)[1].launches[1].kernel, "sum_1");
  EXPECT_EQ((*read)[1].launches[0].group, 0);
  EXPECT_EQ((*read)[1].launches[1].work_items, 512);
  EXPECT_EQ((*read)[1].launches[1].group, 256);
  EXPECT_EQ((*read)[1].launches[0].shared_bytes, 0);
  EXPECT_EQ((*read)[1].launches[1].shared_bytes, 65536);
  const std::vector<TensorMap>& maps = (*read)[2].launches[0].maps;
  ASSERT_EQ(maps.size(), 1u);
  EXPECT_EQ(maps[0].argument, 0u);
  EXPECT_EQ(maps[0].dtype, DataType::Float(16));
  EXPECT_EQ(maps[0].shape, (std::vector<int64_t>{3, 100, 72}));
  EXPECT_EQ(maps[0].box, (std::vector<int64_t>{1, 8, 64}));
}

void ExpectRefused(const std::string& text, const std::string& why) {
  const auto read = ReadTable(text);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(std::string(read.status().message()), HasSubstr(why));
}

TEST(Table, RefusesWhatNoTableSays) {
  ExpectRefused("launch a 1", "line 1: there is no function yet");
  ExpectRefused("function", "line 1: a function has a name");
  ExpectRefused("function f g", "a function has a name");
  ExpectRefused("function f\nreads f32 1", "line 2: nothing is called 'reads'");
  ExpectRefused("function f\ninput", "a tensor has no type");
  ExpectRefused("function f\ninput float 1", "float");
  ExpectRefused("function f\ninput f32 -1", "-1");
  ExpectRefused("function f\ninput f32 4294967296 4294967296", "");
  ExpectRefused("function f\nlaunch f_0", "a launch is");
  ExpectRefused("function f\nlaunch f_0 0", "a launch is");
  ExpectRefused("function f\nlaunch f_0 99999999999999999999", "a launch is");
  ExpectRefused("function f\nlaunch f_0 8 4 2 1", "a launch is");
  ExpectRefused("function f\nlaunch f_0 8 4 2097152", "at most 1048576 bytes");
  ExpectRefused("function f\nlaunch f_0 8 4 -1", "at most 1048576 bytes");
  ExpectRefused("function f\nlaunch f_0 8 0", "work items in groups");
  ExpectRefused("function f\nlaunch f_0 8 3", "none left over");
  ExpectRefused("function f\nlaunch f_0 4096 2048", "at most 1024");
  ExpectRefused("function f\nboxes 0 8 64", "there is no launch yet");
  const std::string f =
      "function f\ninput f16 100 72\ninput i64 8 64\ninput f16 8 60\n"
      "input f16 64\ninput f16 0 64\nlaunch f_0 64 64\nboxes ";
  ExpectRefused(f + "0", "boxes are of an argument");
  ExpectRefused(f + "5 8 64", "boxes are of an argument");
  ExpectRefused(f + "-1 8 64", "boxes are of an argument");
  ExpectRefused(f + "0 257 64", "a box has 1 to 256");
  ExpectRefused(f + "0 0 64", "a box has 1 to 256");
  ExpectRefused(f + "0 64", "boxes of argument 0 are not such");
  ExpectRefused(f + "0 8 32", "boxes of argument 0 are not such");
  ExpectRefused(f + "1 8 64", "boxes of argument 1 are not such");
  ExpectRefused(f + "2 8 64", "boxes of argument 2 are not such");
  ExpectRefused(f + "4 8 64", "argument 4 is no tensor for boxes");
  EXPECT_TRUE(ReadTable(f + "3 64").ok());
}

}  // namespace
}  // namespace ingot::device
