#pragma once
// attuned journal dump, verify, repair: what people do with a journal by hand. docs/journal.md.
#include <cstdio>
#include <string>

#include "os/file_system.h"

namespace attune {

struct JournalCommand {
  enum class Action { dump, verify, repair };
  Action action = Action::verify;
  std::string file;
  bool full = false;          // dump: payloads at any length
  bool as_json = false;       // dump: one object a line
  bool skip_damaged = false;  // repair: refused, with the reason
};

// Exit code: 0, or 1 with the reason in `errors`. A journal that ends in a torn record is a good
// one. Only repair needs the lock, and writes.
int run_journal_command(FileSystem& files, const JournalCommand& command, std::FILE* out,
                        std::FILE* errors);

}  // namespace attune
