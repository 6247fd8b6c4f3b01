#pragma once
// The prepared SQL statements of a Store. Their columns are those of schema.cpp.
#include "base/result.h"
#include "manager/store/sqlite.h"

namespace attune {

struct StoreStatements {
  static Result<StoreStatements> prepare(Database& database);

  SqlStatement find, add_trial, change, change_status, save_parameters, add_attempt, set_place,
      end_attempt, add_report, add_decision, add_checkpoint, set_checkpoint, seen, drop_checkpoint,
      add_import, add_event, set_reason, update_file, add_command, drop_commands, set_conversation,
      forget_commands, forget_conversation;
};

}  // namespace attune
