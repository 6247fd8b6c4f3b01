#pragma once
// The transaction of a Store: the first change begins it, commit() ends it. With patience it also
// keeps all changes since the last commit in memory, because SQLite rolls back when the disk is
// full, and they must be written again.
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "manager/store/sqlite.h"

namespace attune {

class Transaction {
 public:
  static Result<Transaction> on(Database& database);
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // Without patience, all calls after the first failure fail, too. With patience, change() does not
  // report a failure that may pass (SqlStatement::failure_may_pass); commit() does, and each
  // commit() tries all changes again.
  void be_patient() { patient_ = true; }
  bool stalled() const { return stalled_; }  // the last failure may pass, and still holds
  bool is_patient() const { return patient_; }
  bool is_open() const { return open_; }

  // With patience, `statement` must stay at its address until the next successful commit().
  Result<void> change(SqlStatement& statement, std::initializer_list<SqlValue> values);
  Result<bool> commit();  // false: there was nothing to commit
  void give_up();         // rolls back, forgets all changes and failures, and ends the patience

  // Only with patience. set_aside() rolls back; the next commit() writes the changes again. Between
  // the two, go_on_in() may change the database; the statements of the changes must belong to it.
  void set_aside();
  Result<void> go_on_in(Database& database);

 private:
  struct Change;
  Transaction(SqlStatement begin, SqlStatement commit, SqlStatement rollback);
  std::unexpected<Error> failed(Error error);
  Result<void> write(SqlStatement& statement, std::span<const SqlValue> values);
  Result<void> write_again();

  SqlStatement begin_, commit_, rollback_;
  bool open_ = false;
  bool patient_ = false, stalled_ = false;
  std::optional<Error> broken_;  // the first failure that is for good
  std::vector<Change> changes_;  // with patience: all since the last commit
};

}  // namespace attune
