#include "loaders/native/linker.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "artifact/names.h"
#include "artifact/sha256.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include "loaders/load_names.h"
#include "loaders/native/container_object.h"
#include "loaders/native/missing_library.h"
#include "loaders/native/read_pipe.h"
#include "loaders/native/toolchain.h"

LLD_HAS_DRIVER(elf)

namespace ingot {
namespace {

namespace fs = std::filesystem;

// What a linked library shows to the outside; everything else is local.
constexpr char kVersionScript[] =
    "{ global: __tvm_ffi_*; __ingot_*; local: *; };\n";

absl::Status FileError(absl::string_view what, absl::string_view path,
                       int error) {
  const std::string message =
      absl::StrCat(what, " ", path, ": ", strerror(error));
  return error == ENOSPC || error == EDQUOT || error == EFBIG
             ? absl::ResourceExhaustedError(message)
             : absl::FailedPreconditionError(message);
}

// A folder that goes away with the object.
class ScratchFolder {
 public:
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> Make() {
    const char* tmp = getenv("TMPDIR");
    std::string name = absl::StrCat(
        tmp != nullptr && *tmp != '\0' ? tmp : "/tmp", "/ingot-link-XXXXXX");
    if (mkdtemp(name.data()) == nullptr) {
      return FileError("making the folder", name, errno);
    }
    return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(name)));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

// Writes a file piece by piece.
class FileWriter {
 public:
  ~FileWriter() {
    if (fd_ >= 0) close(fd_);
  }
  absl::Status Open(const std::string& path) {
    path_ = path;
    fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd_ < 0 ? FileError("creating", path_, errno) : absl::OkStatus();
  }
  absl::Status Write(absl::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return FileError("writing", path_, errno);
      bytes.remove_prefix(n);
    }
    return absl::OkStatus();
  }
  absl::Status Sync() {
    return fsync(fd_) != 0 ? FileError("writing", path_, errno)
                           : absl::OkStatus();
  }

 private:
  int fd_ = -1;
  std::string path_;
};

absl::Status WriteFile(const std::string& path, absl::string_view bytes) {
  FileWriter file;
  if (absl::Status s = file.Open(path); !s.ok()) return s;
  return file.Write(bytes);
}

// For a set without native code: its library is for this machine.
#if defined(__aarch64__)
constexpr uint16_t kHostMachine = EM_AARCH64;
#else
constexpr uint16_t kHostMachine = EM_X86_64;
#endif

// Where the C library of `machine` keeps shared libraries, in order.
std::vector<std::string> LibraryFolders(uint16_t machine) {
  const char* triple =
      machine == EM_AARCH64 ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return {absl::StrCat("/lib/", triple),
          absl::StrCat("/usr/lib/", triple),
          "/lib64",
          "/usr/lib64",
          "/lib",
          "/usr/lib",
          "/usr/local/lib"};
}

// The file of a library that provenance names: "m", "openblas", or a file's
// name such as "libdnnl.so.2". Development packages may be missing, so a name
// stands for its highest-numbered library, too.
absl::StatusOr<std::string> FindLibrary(absl::string_view library,
                                        uint16_t machine) {
  const std::string name(SplitLinkLibrary(library).name);
  const bool is_file = absl::StrContains(name, ".so");
  const std::string stem = is_file ? name : absl::StrCat("lib", name, ".so");
  for (const std::string& folder : LibraryFolders(machine)) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
      const std::string file = it->path().filename().string();
      // "libm.so" may be a linker script of the development package: prefer
      // the numbered one.
      if (is_file ? file == stem : absl::StartsWith(file, stem + ".")) {
        found.push_back(it->path().string());
      } else if (file == stem) {
        found.insert(found.begin(), it->path().string());
      }
    }
    if (!found.empty()) {
      std::sort(found.begin(), found.end(),
                [](const std::string& a, const std::string& b) {
                  return a.size() != b.size() ? a.size() < b.size() : a < b;
                });
      // Of "libm.so" and "libm.so.6" the second; of "libx.so.1" and
      // "libx.so.1.2" the first, which is its soname.
      return found.size() > 1 && absl::EndsWith(found[0], ".so") ? found[1]
                                                                 : found[0];
    }
  }
  return absl::FailedPreconditionError(MissingLibrary(library));
}

// The ELF machine of an object file; EM_NONE if it is none.
uint16_t MachineOf(absl::string_view object) {
  Elf64_Ehdr header;
  if (object.size() < sizeof(header) || !absl::StartsWith(object, ELFMAG)) {
    return EM_NONE;
  }
  memcpy(&header, object.data(), sizeof(header));
  return header.e_machine;
}

// Runs LLD in a forked copy of this process, so without starting a program.
// Not in the process itself: LLD 19 can damage the heap when it tears down the
// state of its second or later link.
absl::Status RunLld(const std::vector<std::string>& words,
                    const std::string& folder) {
  std::vector<const char*> args;
  for (const std::string& word : words) args.push_back(word.c_str());
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("pipe: ", strerror(errno)));
  }
  const pid_t pid = fork();
  if (pid < 0) {
    const int error = errno;
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    return absl::InternalError(absl::StrCat("fork: ", strerror(error)));
  }
  if (pid == 0) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    const lld::Result result =
        lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
    for (absl::string_view rest = text; !rest.empty();) {
      const ssize_t n = write(pipe_fds[1], rest.data(), rest.size());
      if (n < 0 && errno != EINTR) break;
      if (n > 0) rest.remove_prefix(n);
    }
    // No destructors, no exit handlers: they belong to the parent.
    _exit(result.retCode == 0 ? 0 : 1);
  }
  close(pipe_fds[1]);
  const std::string text = ReadPipe(pipe_fds[0]);
  close(pipe_fds[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  if (WIFSIGNALED(status)) {
    return absl::InternalError(absl::StrCat("the linker was ended by signal ",
                                            WTERMSIG(status), "; ", text));
  }
  // Objects are named by their artifacts once the folder is cut off.
  return absl::FailedPreconditionError(
      absl::StrReplaceAll(text, {{folder + "/", ""}, {"ld.lld: error: ", ""}}));
}

bool IsNative(const Artifact& artifact) {
  return artifact.loader == kNativeLoader;
}

// The objects of the set's native artifacts, as paths in `folder`.
absl::Status MakeObjects(const ArtifactSet& set, const std::string& folder,
                         std::vector<std::string>* objects, uint16_t* machine) {
  for (const Artifact& artifact : set.artifacts()) {
    if (!IsNative(artifact)) continue;
    const std::string name = ArtifactPath(artifact);
    const fs::path path = fs::path(folder) / name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return FileError("creating", path.string(), error.value());
    if (absl::Status s = WriteFile(path.string(), artifact.content.view());
        !s.ok()) {
      return s;
    }
    std::string object = path.string();
    if (absl::EndsWith(name, ".c")) {
      absl::StatusOr<CompileRequest> request =
          ParseCompileRequest(artifact.content.view());
      if (!request.ok()) {
        return absl::Status(
            request.status().code(),
            absl::StrCat(name, ": ", request.status().message()));
      }
      object += ".o";
      if (absl::Status s = CompileC(*request, folder, name, name + ".o");
          !s.ok()) {
        return s;
      }
      absl::StatusOr<Blob> compiled = Blob::MapFile(object);
      if (!compiled.ok()) return compiled.status();
      *machine = MachineOf(compiled->view());
    } else if (absl::EndsWith(name, ".o")) {
      *machine = MachineOf(artifact.content.view());
      if (*machine == EM_NONE) {
        return absl::FailedPreconditionError(
            absl::StrCat(name, " is not an ELF object file"));
      }
    } else {
      // For example a header that the sources beside it include.
      continue;
    }
    objects->push_back(std::move(object));
  }
  return absl::OkStatus();
}

// Links into `output`, which must not exist. `embed` may be null.
absl::Status LinkInto(const ArtifactSet& set, const ArtifactSet* embed,
                      const std::string& output) {
  absl::StatusOr<std::unique_ptr<ScratchFolder>> scratch =
      ScratchFolder::Make();
  if (!scratch.ok()) return scratch.status();
  const std::string& folder = (*scratch)->path();
  std::vector<std::string> objects;
  uint16_t machine = kHostMachine;
  if (absl::Status s = MakeObjects(set, folder, &objects, &machine); !s.ok()) {
    return s;
  }
  if (embed != nullptr) {
    // On the output's disk: it can be as large as the weights.
    const std::string path = output + ".container.o";
    FileWriter file;
    if (absl::Status s = file.Open(path); !s.ok()) return s;
    absl::Status s = WriteContainerObject(
        *embed, machine,
        [&file](absl::string_view bytes) { return file.Write(bytes); });
    objects.push_back(path);
    if (!s.ok()) {
      unlink(path.c_str());
      return s;
    }
  }
  const std::string script = folder + "/exports.map";
  if (absl::Status s = WriteFile(script, kVersionScript); !s.ok()) return s;

  std::vector<std::string> words = {"ld.lld",
                                    "-shared",
                                    "-z",
                                    "defs",
                                    "-z",
                                    "noexecstack",
                                    "-z",
                                    "relro",
                                    "-z",
                                    "now",
                                    "--hash-style=gnu",
                                    "--build-id=none",
                                    "-Bsymbolic",
                                    "--as-needed",
                                    "--threads=1",
                                    "--version-script",
                                    script,
                                    "-o",
                                    output};
  words.insert(words.end(), objects.begin(), objects.end());
  std::vector<std::string> libraries(set.provenance().link_libraries().begin(),
                                     set.provenance().link_libraries().end());
  libraries.push_back("m");
  libraries.push_back("c");
  absl::Status status;
  for (const std::string& library : libraries) {
    absl::StatusOr<std::string> file = FindLibrary(library, machine);
    if (!file.ok()) {
      status = file.status();
      break;
    }
    words.push_back(*std::move(file));
  }
  if (status.ok()) status = RunLld(words, folder);
  if (embed != nullptr) unlink(objects.back().c_str());
  return status;
}

// Moves `from` to `to`, after its bytes have reached the disk.
absl::Status MoveInto(const std::string& from, const std::string& to) {
  const int fd = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fsync(fd) != 0) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return FileError("writing", to, error);
  }
  close(fd);
  if (rename(from.c_str(), to.c_str()) != 0) {
    return FileError("writing", to, errno);
  }
  return absl::OkStatus();
}

absl::Status LinkAtomically(const ArtifactSet& set, const ArtifactSet* embed,
                            const std::string& output) {
  std::error_code error;
  if (fs::is_directory(output, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat(output, " is a folder, not a file to write"));
  }
  const std::string temporary = absl::StrCat(output, ".tmp", getpid());
  absl::Status status = LinkInto(set, embed, temporary);
  if (status.ok()) status = MoveInto(temporary, output);
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

std::string CacheFolder() {
  if (const char* cache = getenv("XDG_CACHE_HOME");
      cache != nullptr && cache[0] == '/') {
    return absl::StrCat(cache, "/ingot/linked");
  }
  if (const char* home = getenv("HOME"); home != nullptr && home[0] == '/') {
    return absl::StrCat(home, "/.cache/ingot/linked");
  }
  return "";
}

// Everything that the linked bytes depend on.
std::string LinkKey(const ArtifactSet& set) {
  std::string text = absl::StrCat("ingot link 1\n", kVersionScript);
  for (const Artifact& artifact : set.artifacts()) {
    if (!IsNative(artifact)) continue;
    absl::StrAppend(&text, ArtifactPath(artifact), "\n",
                    Sha256Hex(artifact.content.view()), "\n");
  }
  for (const std::string& library : set.provenance().link_libraries()) {
    absl::StrAppend(&text, library, "\n");
  }
  return Sha256Hex(text);
}

}  // namespace

absl::Status LinkLibrary(const ArtifactSet& set, absl::string_view output) {
  if (absl::Status s = set.CheckExportable(); !s.ok()) return s;
  ArtifactSet rest;
  rest.mutable_provenance() = set.provenance();
  for (const Artifact& artifact : set.artifacts()) {
    if (IsNative(artifact)) continue;
    if (absl::Status s = rest.Add(artifact); !s.ok()) return s;
  }
  return LinkAtomically(set, &rest, std::string(output));
}

absl::StatusOr<std::string> LinkCached(
    const ArtifactSet& set,
    const std::function<void(absl::string_view)>& report) {
  std::string folder = CacheFolder();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (folder.empty() || error || access(folder.c_str(), W_OK) != 0) {
    // Kept until the process ends, because a loaded library may be there.
    static std::string* own = [] {
      absl::StatusOr<std::unique_ptr<ScratchFolder>> made =
          ScratchFolder::Make();
      if (!made.ok()) return new std::string;
      static std::unique_ptr<ScratchFolder> keep = *std::move(made);
      return new std::string(keep->path());
    }();
    if (own->empty()) {
      return absl::FailedPreconditionError(
          "there is no folder to link into: set XDG_CACHE_HOME or TMPDIR to "
          "one that can be written");
    }
    folder = *own;
  }
  const std::string path = absl::StrCat(folder, "/", LinkKey(set), ".so");
  if (fs::exists(path, error)) return path;
  if (report != nullptr) {
    report(absl::StrCat("the set is not linked: linking it into ", path));
  }
  if (absl::Status s = LinkAtomically(set, nullptr, path); !s.ok()) return s;
  return path;
}

}  // namespace ingot
