#include "manager/store/transaction.h"

#include <tuple>
#include <utility>

namespace attune {

struct Transaction::Change {
  SqlStatement* statement;
  std::vector<KeptSqlValue> values;
};

Result<Transaction> Transaction::on(Database& database) {
  SqlStatement begin = TRY(database.prepare("BEGIN IMMEDIATE"));
  SqlStatement commit = TRY(database.prepare("COMMIT"));
  SqlStatement rollback = TRY(database.prepare("ROLLBACK"));
  return Transaction(std::move(begin), std::move(commit), std::move(rollback));
}

Transaction::Transaction(SqlStatement begin, SqlStatement commit, SqlStatement rollback)
    : begin_(std::move(begin)), commit_(std::move(commit)), rollback_(std::move(rollback)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction::~Transaction() = default;

// Rolls back everything since the last commit. SQLite may have done so itself; and a commit must
// not write one half of changes that belong together.
std::unexpected<Error> Transaction::failed(Error error) {
  std::ignore = rollback_.run({});
  open_ = false;
  if (!stalled_) broken_ = error;
  return std::unexpected(std::move(error));
}

Result<void> Transaction::write(SqlStatement& statement, std::span<const SqlValue> values) {
  if (!open_) {
    if (auto begun = begin_.run({}); !begun) {
      stalled_ = patient_ && begin_.failure_may_pass();
      return failed(begun.error());
    }
    open_ = true;
  }
  if (auto done = statement.run(values); !done) {
    stalled_ = patient_ && statement.failure_may_pass();
    return failed(done.error());
  }
  return {};
}

Result<void> Transaction::change(SqlStatement& statement, std::initializer_list<SqlValue> values) {
  if (broken_) return std::unexpected(*broken_);
  // Kept before it is written: if this or a later write fails, SQLite undoes all since the commit.
  if (patient_) {
    Change change{&statement, {}};
    for (const SqlValue& value : values) change.values.emplace_back(value);
    changes_.push_back(std::move(change));
  }
  if (stalled_) return {};
  auto written = write(statement, std::span(values.begin(), values.size()));
  if (stalled_) return {};
  return written;
}

Result<void> Transaction::write_again() {
  std::vector<SqlValue> values;
  for (const Change& change : changes_) {
    values.clear();
    for (const KeptSqlValue& value : change.values) values.push_back(value.get());
    TRY(write(*change.statement, values));
  }
  return {};
}

Result<bool> Transaction::commit() {
  if (broken_) return std::unexpected(*broken_);
  if (stalled_) TRY(write_again());
  if (!open_) {
    stalled_ = false;
    return false;
  }
  if (auto done = commit_.run({}); !done) {
    stalled_ = patient_ && commit_.failure_may_pass();
    return failed(done.error());
  }
  open_ = stalled_ = false;
  changes_.clear();
  return true;
}

// Leaves the state of a failure that may pass, so that the next commit() writes all changes again.
void Transaction::set_aside() {
  if (open_) std::ignore = rollback_.run({});
  open_ = false;
  stalled_ = true;
}

Result<void> Transaction::go_on_in(Database& database) {
  Transaction other = TRY(on(database));
  begin_ = std::move(other.begin_);
  commit_ = std::move(other.commit_);
  rollback_ = std::move(other.rollback_);
  return {};
}

void Transaction::give_up() {
  if (open_) std::ignore = rollback_.run({});
  open_ = false;
  patient_ = stalled_ = false;
  broken_.reset();
  changes_.clear();
}

}  // namespace attune
