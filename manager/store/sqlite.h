#pragma once
// SQLite, with errors as values. Only sqlite.cpp includes SQLiteCpp and sqlite3: their headers are
// slow to compile, and rooms throw no exceptions at each other.
//
// One thread owns a Database and all statements prepared on it.
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

// A value for a `?` of a statement. A text is not copied, and must live until the call returns.
// SQLite stores NaN as NULL.
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

// A SqlValue that owns its text.
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

// A row of a query's result, valid only inside the callback of query(). Columns count from 0. NULL
// reads as 0 or as the empty text.
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
  SqlStatement();  // empty; assign a statement before you use it
  explicit SqlStatement(std::unique_ptr<Handle> handle);
  SqlStatement(SqlStatement&&) noexcept;
  SqlStatement& operator=(SqlStatement&&) noexcept;
  ~SqlStatement();

  // Runs a statement that changes something. Returns the number of rows that it changed.
  Result<int> run(std::initializer_list<SqlValue> values) {
    return run(std::span(values.begin(), values.size()));
  }
  Result<int> run(std::span<const SqlValue> values);
  // Runs a query, and calls `row` for each row until it returns false. `row` must not use this
  // statement.
  Result<void> query(std::initializer_list<SqlValue> values,
                     const std::function<bool(const SqlRow&)>& row);
  // Whether the cause of the last failure may go away by itself: a full or failing disk, a file
  // system that was mounted read-only, another process that writes.
  bool failure_may_pass() const;

 private:
  std::unique_ptr<Handle> handle_;
};

class Database {
 public:
  enum class Mode { create, read };

  // create: reads and writes, and makes the file if it is missing. read: never writes, and never
  // blocks a writer. `busy`: how long each call waits for another process that writes. Errors name
  // the file and the cure.
  static Result<Database> open(const std::filesystem::path& file, Mode mode, BusyWait busy = 10);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // One or several statements without results.
  Result<void> execute(const std::string& sql);
  Result<SqlStatement> prepare(const std::string& sql);
  Result<std::int64_t> integer(const std::string& sql);  // the first column of the only row
  std::int64_t last_row() const;                         // the rowid of the last INSERT
  void wait(BusyWait busy);                              // replaces `busy` of open()
  // Whether the path no longer names the open file, because that was deleted, moved or replaced. Or
  // the file was opened as one that nobody changes, and somebody has: then open it anew, too.
  bool has_moved() const;

 private:
  struct Handle;
  explicit Database(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace attune
