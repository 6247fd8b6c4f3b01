#pragma once
// The open transaction of a Store: begun by the first change, ended by commit(). With patience the
// changes are remembered beside it, since SQLite rolls back what a full disk does not take.
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

  // Without patience the first failure is for good: the calls after it fail, too. With it, one that
  // may pass is said by commit() only, and each commit() tries all changes again.
  void be_patient() { patient_ = true; }
  bool stalled() const { return stalled_; }  // commit() has failed so
  bool is_patient() const { return patient_; }
  bool is_open() const { return open_; }

  // `statement` lives as long as this.
  Result<void> change(SqlStatement& statement, std::initializer_list<SqlValue> values);
  Result<bool> commit();  // whether there was something
  void give_up();         // forgets what could not be written, and that it could not

  // With patience: undoes what is not committed, which the next commit() writes again, until then
  // perhaps into another database.
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
  std::optional<Error> broken_;
  std::vector<Change> changes_;  // with patience: since the last commit
};

}  // namespace attune
