#include "runtime/tensor.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const DataType kF32 = DataType::Float(32);

TEST(Tensor, EmptyIsDenseAndAligned) {
  auto tensor = Tensor::Empty(kF32, {2, 3, 4});
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->raw_data()) % 64, 0u);
  EXPECT_EQ(tensor->NumElements(), 24);
  EXPECT_EQ(tensor->bytes(), 96u);
  EXPECT_THAT(tensor->shape(), ElementsAre(2, 3, 4));
  const DLTensor* dl = tensor->dl();
  EXPECT_EQ(dl->ndim, 3);
  EXPECT_EQ(dl->dtype.bits, 32);
  EXPECT_THAT(absl::MakeConstSpan(dl->strides, 3), ElementsAre(12, 4, 1));
  EXPECT_EQ(tensor->TypeString(), "f32[2, 3, 4]");
}

TEST(Tensor, ScalarAndNoElements) {
  auto scalar = Tensor::Empty(kF32, {});
  ASSERT_TRUE(scalar.ok());
  EXPECT_EQ(scalar->NumElements(), 1);
  EXPECT_EQ(scalar->TypeString(), "f32[]");
  auto none = Tensor::Empty(kF32, {3, 0, 5});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->NumElements(), 0);
  EXPECT_EQ(none->bytes(), 0u);
  EXPECT_NE(none->raw_data(), nullptr);
}

TEST(Tensor, CopiesShareElements) {
  auto a = Tensor::Empty(kF32, {2});
  ASSERT_TRUE(a.ok());
  Tensor b = *a;
  a->mutable_data<float>()[0] = 7;
  EXPECT_EQ(b.data<float>()[0], 7);
  EXPECT_EQ(a->dl(), b.dl());
  auto c = b.Clone();
  ASSERT_TRUE(c.ok());
  a->mutable_data<float>()[0] = 8;
  EXPECT_EQ(c->data<float>()[0], 7);
}

TEST(Tensor, HostileShapes) {
  const int64_t big = int64_t{1} << 62;
  EXPECT_EQ(Tensor::Empty(kF32, {-1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Empty(kF32, {big, 4}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Empty(kF32, {big}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Empty(kF32, {0, -5}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Empty(kF32, {int64_t{1} << 58}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Tensor::Empty(DataType::Handle(), {1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Empty(kF32, std::vector<int64_t>(1000, 1)).status().code(),
            absl::StatusCode::kInvalidArgument);
  // Huge, but none of it: no overflow to complain of.
  EXPECT_TRUE(Tensor::Empty(kF32, {big, big, 0, big}).ok());
}

TEST(Tensor, OtherDevicesNeedTheirApi) {
  EXPECT_EQ(Tensor::Empty(kF32, {1}, Device{kDLCUDA, 0}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      Tensor::Empty(kF32, {1}, Device{kDLCUDA, 0}, nullptr).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(Tensor, OfABlobIsReadOnlyAndNotCopied) {
  auto owner = std::make_shared<std::vector<float>>(6, 1.5f);
  std::weak_ptr<std::vector<float>> alive = owner;
  Blob blob = Blob::FromMemory(owner->data(), 24, owner);
  const void* data = owner->data();
  owner.reset();
  auto tensor = Tensor::FromBlob(blob, kF32, {2, 3});
  blob = Blob();
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->raw_data(), data);
  EXPECT_TRUE(tensor->read_only());
  EXPECT_EQ(tensor->mutable_raw_data(), nullptr);
  EXPECT_FALSE(alive.expired());
  *tensor = Tensor();
  EXPECT_TRUE(alive.expired());
}

TEST(Tensor, OfABlobNeedsSizeAndAlignment) {
  alignas(64) static const char bytes[64] = {};
  auto at = [](size_t offset, size_t size) {
    return Blob::FromMemory(bytes + offset, size, nullptr);
  };
  EXPECT_TRUE(Tensor::FromBlob(at(4, 8), kF32, {2}).ok());
  EXPECT_THAT(
      std::string(Tensor::FromBlob(at(0, 9), kF32, {2}).status().message()),
      HasSubstr("f32[2] needs 8 bytes, but there are 9"));
  EXPECT_THAT(
      std::string(Tensor::FromBlob(at(2, 8), kF32, {2}).status().message()),
      HasSubstr("not aligned to 4 bytes"));
  EXPECT_TRUE(Tensor::FromBlob(Blob(), kF32, {0}).ok());
  EXPECT_FALSE(Tensor::FromBlob(Blob(), kF32, {1}).ok());
}

TEST(Tensor, Borrowed) {
  float data[4] = {1, 2, 3, 4};
  auto tensor = Tensor::FromBorrowed(data, kF32, {2, 2});
  ASSERT_TRUE(tensor.ok());
  EXPECT_THAT(tensor->values<float>(), ElementsAre(1, 2, 3, 4));
  tensor->mutable_data<float>()[0] = 9;
  EXPECT_EQ(data[0], 9);
  EXPECT_FALSE(Tensor::FromBorrowed(nullptr, kF32, {1}).ok());
  auto read_only = Tensor::FromBorrowedReadOnly(data, kF32, {4});
  ASSERT_TRUE(read_only.ok());
  EXPECT_EQ(read_only->mutable_raw_data(), nullptr);
}

TEST(Tensor, Reshape) {
  auto tensor = Tensor::Empty(kF32, {2, 3});
  ASSERT_TRUE(tensor.ok());
  auto view = tensor->Reshape({3, 2, 1});
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->raw_data(), tensor->raw_data());
  EXPECT_THAT(view->shape(), ElementsAre(3, 2, 1));
  EXPECT_EQ(tensor->Reshape({4, 2}).status().message(),
            "f32[2, 3] cannot be reshaped to [4, 2]");
  *tensor = Tensor();
  std::memset(view->mutable_raw_data(), 0, view->bytes());
}

TEST(TensorDlpack, GoesOutAndComesBack) {
  auto tensor = Tensor::Empty(kF32, {2, 2});
  ASSERT_TRUE(tensor.ok());
  const void* data = tensor->raw_data();
  DLManagedTensor* managed = tensor->ToDlpack();
  *tensor = Tensor();
  auto back = Tensor::FromDlpack(managed);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->raw_data(), data);
  EXPECT_THAT(back->shape(), ElementsAre(2, 2));
}

class Foreign {
 public:
  Foreign() {
    managed_.dl_tensor.data = data_;
    managed_.dl_tensor.device = DLDevice{kDLCPU, 0};
    managed_.dl_tensor.ndim = 2;
    managed_.dl_tensor.dtype = DLDataType{2, 32, 1};
    managed_.dl_tensor.shape = shape_;
    managed_.manager_ctx = this;
    managed_.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted_;
    };
  }

  float data_[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int64_t shape_[2] = {2, 3};
  int64_t strides_[2] = {3, 1};
  int deleted_ = 0;
  DLManagedTensor managed_ = {};
};

TEST(TensorDlpack, ForeignTensorIsFreedOnce) {
  Foreign foreign;
  foreign.managed_.dl_tensor.byte_offset = 8;
  foreign.managed_.dl_tensor.strides = foreign.strides_;
  {
    auto tensor = Tensor::FromDlpack(&foreign.managed_);
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_THAT(tensor->values<float>(), ElementsAre(2, 3, 4, 5, 6, 7));
    EXPECT_EQ(tensor->dl()->byte_offset, 0u);
    Tensor copy = *tensor;
    EXPECT_EQ(foreign.deleted_, 0);
  }
  EXPECT_EQ(foreign.deleted_, 1);
}

TEST(TensorDlpack, FailureLeavesItToTheCaller) {
  auto refuse = [](auto change) {
    Foreign foreign;
    change(&foreign);
    auto tensor = Tensor::FromDlpack(&foreign.managed_);
    EXPECT_EQ(tensor.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(foreign.deleted_, 0);
  };
  refuse([](Foreign* f) {
    f->strides_[0] = 1;
    f->strides_[1] = 2;
    f->managed_.dl_tensor.strides = f->strides_;
  });
  refuse([](Foreign* f) { f->managed_.dl_tensor.ndim = -1; });
  refuse([](Foreign* f) { f->managed_.dl_tensor.shape = nullptr; });
  refuse([](Foreign* f) { f->managed_.dl_tensor.byte_offset = 2; });
  refuse([](Foreign* f) { f->managed_.dl_tensor.data = nullptr; });
  refuse([](Foreign* f) { f->managed_.dl_tensor.dtype.code = 5; });
  refuse([](Foreign* f) { f->managed_.dl_tensor.dtype.bits = 7; });
  refuse([](Foreign* f) { f->managed_.dl_tensor.dtype.lanes = 0; });
  refuse([](Foreign* f) { f->shape_[0] = -1; });
  refuse([](Foreign* f) { f->shape_[0] = f->shape_[1] = int64_t{1} << 40; });
  EXPECT_FALSE(Tensor::FromDlpack(nullptr).ok());
}

TEST(TensorDlpack, StrideOfAOneIsFree) {
  Foreign foreign;
  foreign.shape_[0] = 1;
  foreign.strides_[0] = 77;
  foreign.managed_.dl_tensor.strides = foreign.strides_;
  EXPECT_TRUE(Tensor::FromDlpack(&foreign.managed_).ok());
}

}  // namespace
}  // namespace ingot
