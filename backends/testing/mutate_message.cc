#include "backends/testing/mutate_message.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"

namespace ingot::testing_support {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// The integers to try in place of `value`. `index` is that of the message that
// the field is in, among its siblings.
template <typename T>
std::set<T> Others(T value, int index) {
  using Limits = std::numeric_limits<T>;
  using U = std::make_unsigned_t<T>;
  const U u = static_cast<U>(value);
  std::set<T> others = {0,
                        1,
                        static_cast<T>(-1),
                        static_cast<T>(u + 1),
                        static_cast<T>(u - 1),
                        static_cast<T>(u * 2),
                        static_cast<T>(index),
                        static_cast<T>(index + 1),
                        Limits::max(),
                        Limits::min()};
  others.erase(value);
  return others;
}

class Mutator {
 public:
  explicit Mutator(const std::function<void(const std::string&)>& visit)
      : visit_(visit) {}

  void Walk(Message* message, const std::string& path, int index) {
    const auto* type = message->GetDescriptor();
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor* field = type->field(i);
      const std::string name = absl::StrCat(path, ".", field->name());
      if (field->is_repeated()) {
        Repeated(message, field, name);
      } else {
        Single(message, field, name, index);
      }
    }
  }

 private:
  // Puts `message` back to what it was after the changes that `change` makes.
  void Try(Message* message, const std::string& what,
           const std::function<void()>& change) {
    std::unique_ptr<Message> before(message->New());
    before->CopyFrom(*message);
    change();
    visit_(what);
    message->CopyFrom(*before);
  }

  void Single(Message* message, const FieldDescriptor* field,
              const std::string& name, int index) {
    const Reflection* r = message->GetReflection();
    const bool present = !field->has_presence() || r->HasField(*message, field);
    const auto set = [&](const auto& values, auto setter) {
      for (auto value : values) {
        Try(message, absl::StrCat(name, " = ", value),
            [&] { (r->*setter)(message, field, value); });
      }
    };
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_UINT32:
        set(Others(r->GetUInt32(*message, field), index),
            &Reflection::SetUInt32);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        set(Others(r->GetUInt64(*message, field), index),
            &Reflection::SetUInt64);
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        set(Others(r->GetInt64(*message, field), index), &Reflection::SetInt64);
        break;
      case FieldDescriptor::CPPTYPE_ENUM: {
        const EnumDescriptor* type = field->enum_type();
        std::set<int> values = {type->value_count() + 7};
        for (int i = 0; i < type->value_count(); ++i) {
          values.insert(type->value(i)->number());
        }
        values.erase(r->GetEnumValue(*message, field));
        set(values, &Reflection::SetEnumValue);
        break;
      }
      case FieldDescriptor::CPPTYPE_BOOL:
        Try(message, absl::StrCat("not ", name),
            [&] { r->SetBool(message, field, !r->GetBool(*message, field)); });
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        for (const std::string& text :
             {std::string(), r->GetString(*message, field) + "x"}) {
          Try(message, absl::StrCat(name, " = '", text, "'"),
              [&] { r->SetString(message, field, text); });
        }
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Try(message, absl::StrCat(present ? "no " : "a new ", name), [&] {
          present ? r->ClearField(message, field)
                  : static_cast<void>(r->MutableMessage(message, field));
        });
        if (present) Walk(r->MutableMessage(message, field), name, index);
        break;
      default:
        break;
    }
  }

  void Repeated(Message* message, const FieldDescriptor* field,
                const std::string& name) {
    const Reflection* r = message->GetReflection();
    const int size = r->FieldSize(*message, field);
    for (int i = 0; i < size; ++i) {
      const std::string element = absl::StrCat(name, "[", i, "]");
      Try(message, absl::StrCat("no ", element), [&] {
        for (int k = i; k + 1 < size; ++k) {
          r->SwapElements(message, field, k, k + 1);
        }
        r->RemoveLast(message, field);
      });
      Try(message, absl::StrCat("two ", element),
          [&] { Double(message, field, i); });
      if (i + 1 < size) {
        Try(message, absl::StrCat("swapped ", element),
            [&] { r->SwapElements(message, field, i, i + 1); });
      }
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
          Walk(r->MutableRepeatedMessage(message, field, i), element, i);
          break;
        case FieldDescriptor::CPPTYPE_UINT32:
          for (uint32_t value :
               Others(r->GetRepeatedUInt32(*message, field, i), i)) {
            Try(message, absl::StrCat(element, " = ", value),
                [&] { r->SetRepeatedUInt32(message, field, i, value); });
          }
          break;
        case FieldDescriptor::CPPTYPE_STRING:
          Try(message, absl::StrCat(element, " = ''"),
              [&] { r->SetRepeatedString(message, field, i, ""); });
          break;
        default:
          break;
      }
    }
  }

  static void Double(Message* message, const FieldDescriptor* field, int i) {
    const Reflection* r = message->GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        std::unique_ptr<Message> copy(
            r->GetRepeatedMessage(*message, field, i).New());
        copy->CopyFrom(r->GetRepeatedMessage(*message, field, i));
        r->AddMessage(message, field)->CopyFrom(*copy);
        break;
      }
      case FieldDescriptor::CPPTYPE_UINT32:
        r->AddUInt32(message, field, r->GetRepeatedUInt32(*message, field, i));
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        r->AddString(message, field, r->GetRepeatedString(*message, field, i));
        break;
      default:
        break;
    }
  }

  const std::function<void(const std::string&)>& visit_;
};

}  // namespace

void ForEachMutation(
    Message* root,
    const std::function<void(const std::string& change)>& visit) {
  Mutator(visit).Walk(root, "plan", 0);
}

}  // namespace ingot::testing_support
