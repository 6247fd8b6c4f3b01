#pragma once
// SQLite with errors as values. sqlite.cpp is the one source that sees SQLiteCpp and sqlite3: their
// headers are slow, and their exceptions must not reach a room that has none.
//
// One thread owns a Database and everything prepared on it.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "base/result.h"
#include "manager/store/busy_wait.h"

namespace attune {

// What is bound to a `?`. Texts are not copied: they live until the call returns. NaN becomes NULL,
// which is SQLite's own rule.
class SqlValue {
 public:
  SqlValue(std::nullptr_t) {}
  SqlValue(std::int64_t value) : value_(value) {}
  SqlValue(int value) : value_(std::int64_t{value}) {}
  SqlValue(bool value) : value_(std::int64_t{value}) {}
  SqlValue(std::uint64_t value) : value_(static_cast<std::int64_t>(value)) {}  // the same bits
  SqlValue(double value) : value_(value) {}
  SqlValue(std::optional<double> value) {
    if (value) value_ = *value;
  }
  SqlValue(const std::string& value) : value_(&value) {}

  const auto& get() const { return value_; }

 private:
  std::variant<std::monostate, std::int64_t, double, const std::string*> value_;
};

// The same with a text of its own.
class KeptSqlValue {
 public:
  explicit KeptSqlValue(const SqlValue& value) : value_(value) {
    if (const auto* text = std::get_if<const std::string*>(&value.get())) text_ = **text;
  }
  SqlValue get() const {
    const bool is_text = std::holds_alternative<const std::string*>(value_.get());
    return is_text ? SqlValue(text_) : value_;
  }

 private:
  SqlValue value_;
  std::string text_;
};

// A row of a result; columns count from 0. NULL reads as 0 or as the empty text.
class SqlRow {
 public:
  explicit SqlRow(void* statement) : statement_(statement) {}
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::optional<double> maybe_real(int column) const;
  std::string text(int column) const;

 private:
  void* statement_;  // SQLite::Statement
};

class SqlStatement {
 public:
  struct Handle;
  SqlStatement();  // none; must be assigned before it is used
  explicit SqlStatement(std::unique_ptr<Handle> handle);
  SqlStatement(SqlStatement&&) noexcept;
  SqlStatement& operator=(SqlStatement&&) noexcept;
  ~SqlStatement();

  // A change; yields the number of rows that it changed.
  Result<int> run(std::initializer_list<SqlValue> values) {
    return run(std::span(values.begin(), values.size()));
  }
  Result<int> run(std::span<const SqlValue> values);
  // A query; `row` is called for each row until it says false. It must not use this statement.
  Result<void> query(std::initializer_list<SqlValue> values,
                     const std::function<bool(const SqlRow&)>& row);
  // Whether what the last failure was about may pass by itself: a full or failing disk, a file
  // system that was mounted read-only.
  bool failure_may_pass() const;

 private:
  std::unique_ptr<Handle> handle_;
};

class Database {
 public:
  enum class Mode { create, read };

  // create: made when missing. read: never writes, and never blocks a writer. `busy`: how long
  // every call waits for another process that writes. Errors name the file and the cure.
  static Result<Database> open(const std::filesystem::path& file, Mode mode, BusyWait busy = 10);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // One or several statements without results.
  Result<void> execute(const std::string& sql);
  Result<SqlStatement> prepare(const std::string& sql);
  Result<std::int64_t> integer(const std::string& sql);  // the first column of the only row
  std::int64_t last_row() const;                         // the rowid of the last INSERT
  void wait(BusyWait busy);                              // from now on
  // Its path no longer names the open file: that was deleted, moved or replaced.
  bool has_moved() const;

 private:
  struct Handle;
  explicit Database(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace attune
