// Folders that a process works in, told from those that one left when it was
// killed.

#ifndef INGOT_BASE_FOLDER_IN_USE_H_
#define INGOT_BASE_FOLDER_IN_USE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ingot {

// The file in such a folder that tells the one from the other: what removes the
// folder removes it last.
inline constexpr char kInUseMark[] = ".in-use";

// Makes the folder `name` in the open folder `parent`, or AT_FDCWD, and marks
// it as in use: with a locked file in it, which processes of other machines
// see, too. The mark lasts as long as the descriptor that is returned, or until
// the process ends, however it does. -1 with errno: there is no such folder;
// EEXIST or EBUSY: another name may do.
int MakeFolderInUse(int parent, const std::string& name);

// Makes one with a name of its own, which starts with `prefix` and is returned
// in `name`. -1 with errno.
int MakeNewFolderInUse(int parent, absl::string_view prefix, std::string* name);

// Takes over a folder that a process of this user made so and that has ended,
// so that it may be removed before the descriptor that is returned is closed.
// -1: it is in use or may be, or is another user's or a link, which may lead to
// anything.
int TakeAbandoned(int parent, const std::string& name);

}  // namespace ingot

#endif  // INGOT_BASE_FOLDER_IN_USE_H_
