// The header, the types of generated C and LLVM's types describe one layout.

#include "runtime/c_abi.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "compiler/codegen/c_abi_fields.h"
#include "compiler/codegen/c_prelude.h"
#include "compiler/codegen/llvm/abi_types.h"
#include "gtest/gtest.h"
#include "llvm/IR/DataLayout.h"

namespace ingot::codegen {
namespace prelude {

#include "compiler/codegen/c_prelude_types.inc"
// This one uses the types of the other.
#include "compiler/codegen/c_model_info_types.inc"

}  // namespace prelude

namespace {

TEST(CAbiTest, GeneratedCDeclaresTheHeadersStructures) {
#define INGOT_EXPECT_PLACE(structure, name, type, member, own) \
  EXPECT_EQ(offsetof(prelude::structure, own),                 \
            offsetof(Abi##structure, member))                  \
      << #structure "::" #member;
  INGOT_ABI_ALL(INGOT_EXPECT_PLACE)
#undef INGOT_EXPECT_PLACE
  EXPECT_EQ(sizeof(prelude::Tensor), sizeof(DLTensor));
  EXPECT_EQ(sizeof(prelude::Any), sizeof(TVMFFIAny));
  EXPECT_EQ(sizeof(prelude::HostApi), sizeof(IngotHostApi));
  EXPECT_EQ(sizeof(prelude::TensorInfo), sizeof(IngotTensorInfo));
  EXPECT_EQ(sizeof(prelude::ModelInfo), sizeof(IngotModelInfo));
}

// tvm-ffi and DLPack document these places; the header must keep them too.
TEST(CAbiTest, TablesHoldTheDocumentedLayout) {
  if (sizeof(void*) != 8) GTEST_SKIP() << "the numbers are for 64 bits";
  EXPECT_EQ(kTensorFields[kTensorNdim].offset, 16u);
  EXPECT_EQ(kTensorFields[kTensorTypeCode].offset, 20u);
  EXPECT_EQ(kTensorFields[kTensorShape].offset, 24u);
  EXPECT_EQ(kTensorFields[kTensorByteOffset].offset, 40u);
  EXPECT_EQ(kAnyFields[kAnyValue].offset, 8u);
  EXPECT_EQ(kHostApiFields[kHostApiSetError].offset, 16u);
}

TEST(CAbiTest, PreludeHoldsTheTypesThatWereChecked) {
  const std::string types =
#include "compiler/codegen/c_prelude_types.literal"
      ;
  const std::string model_types =
#include "compiler/codegen/c_model_info_types.literal"
      ;
  EXPECT_EQ(kCModelInfoTypes, model_types);
  EXPECT_NE(std::string(kCPrelude).find("\n" + types + "\n"),
            std::string::npos);
}

void ExpectPlaces(const llvm::DataLayout& layout, llvm::StructType* type,
                  absl::Span<const AbiField> fields, size_t bytes) {
  const llvm::StructLayout* places = layout.getStructLayout(type);
  ASSERT_EQ(type->getNumElements(), fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    EXPECT_EQ(places->getElementOffset(i).getFixedValue(), fields[i].offset)
        << "field " << i;
    EXPECT_EQ(layout.getTypeStoreSize(type->getElementType(i)).getFixedValue(),
              fields[i].size)
        << "field " << i;
  }
  EXPECT_EQ(layout.getTypeAllocSize(type).getFixedValue(), bytes);
}

TEST(CAbiTest, LlvmPlacesFieldsAsTheHeaderDoes) {
  if (sizeof(void*) != 8) GTEST_SKIP() << "the layout below is for 64 bits";
  llvm::LLVMContext context;
  const llvm::DataLayout layout("e-m:e-i64:64-n8:16:32:64-S128");
  ExpectPlaces(layout, AbiStruct(context, kTensorFields), kTensorFields,
               sizeof(DLTensor));
  ExpectPlaces(layout, AbiStruct(context, kAnyFields), kAnyFields,
               sizeof(TVMFFIAny));
  ExpectPlaces(layout, AbiStruct(context, kHostApiFields), kHostApiFields,
               sizeof(IngotHostApi));
  ExpectPlaces(layout, AbiStruct(context, kTensorInfoFields), kTensorInfoFields,
               sizeof(IngotTensorInfo));
  ExpectPlaces(layout, AbiStruct(context, kModelInfoFields), kModelInfoFields,
               sizeof(IngotModelInfo));
}

}  // namespace
}  // namespace ingot::codegen
