#include "manager/store/sqlite.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

namespace attune {
namespace {

std::string cure(int code) {
  switch (code & 0xff) {  // the primary code; the extended ones need no other cure
    case SQLITE_FULL:
      return "make room; a manager that runs goes on by itself, and attune resume starts one";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process holds it; see who with fuser, and wait for it or end it";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return "check that it exists, and the permissions of the file and of its folder";
    case SQLITE_NOTADB:
      return "it is no SQLite database; move it away";
    case SQLITE_CORRUPT:
      return "it is damaged; what can be read comes out with: sqlite3 FILE .recover";
    case SQLITE_IOERR:
      return "the disk or the network file system failed; put the working directory on a local "
             "disk";
    default:
      return {};
  }
}

std::unexpected<Error> failed(const std::string& file, int code, const std::string& what) {
  const std::string advice = cure(code);
  return fail(fmt::format("{}: {}{}{}", file, what, advice.empty() ? "" : ": ", advice));
}

// The URI by which SQLite opens the file as one that nobody changes. All but plain characters are
// written as %XX.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '-' || c == '_') {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

struct Database::Handle {
  std::string file;
  SQLite::Database database;
  BusyWait busy;
  double waited = 0;
  // Set for a file that was opened as one that nobody changes: how it looked then.
  struct Looks {
    std::filesystem::file_time_type changed, log_changed;
    bool operator==(const Looks&) const = default;
    static Looks of(const std::string& file) {
      std::error_code missing;
      return {std::filesystem::last_write_time(file, missing),
              std::filesystem::last_write_time(file + "-wal", missing)};
    }
  };
  std::optional<Looks> immutable = {};

  // SQLite's busy handler. `calls`: how often it was called before for the same lock.
  static int go_on(void* handle, int calls) {
    auto* self = static_cast<Handle*>(handle);
    if (calls == 0) self->waited = 0;
    return self->busy.pause(self->waited) ? 1 : 0;
  }
};

struct SqlStatement::Handle {
  std::string file;
  SQLite::Statement statement;
  int failure = 0;  // code of the last one

  void bind(std::span<const SqlValue> values);
  template <class Body>
  auto guarded(const Body& body) -> Result<decltype(body())>;
};

namespace {
SQLite::Column column_of(void* statement, int column) {
  return static_cast<SQLite::Statement*>(statement)->getColumn(column);
}
}  // namespace

bool SqlRow::is_null(int column) const { return column_of(statement_, column).isNull(); }
std::int64_t SqlRow::integer(int column) const { return column_of(statement_, column).getInt64(); }
double SqlRow::real(int column) const { return column_of(statement_, column).getDouble(); }
std::optional<double> SqlRow::maybe_real(int column) const {
  return is_null(column) ? std::nullopt : std::optional(real(column));
}
std::string SqlRow::text(int column) const { return column_of(statement_, column).getString(); }

SqlStatement::SqlStatement() = default;
SqlStatement::SqlStatement(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
SqlStatement::SqlStatement(SqlStatement&&) noexcept = default;
SqlStatement& SqlStatement::operator=(SqlStatement&&) noexcept = default;
SqlStatement::~SqlStatement() = default;

void SqlStatement::Handle::bind(std::span<const SqlValue> values) {
  int index = 0;
  for (const SqlValue& value : values) {
    ++index;
    if (const auto* number = std::get_if<std::int64_t>(&value.get())) {
      statement.bind(index, *number);
    } else if (const auto* real = std::get_if<double>(&value.get())) {
      statement.bind(index, *real);
    } else if (const auto* text = std::get_if<const std::string*>(&value.get())) {
      statement.bindNoCopy(index, **text);
    } else {
      statement.bind(index);
    }
  }
}

// Runs `body`, and turns an exception into an error. Resets the statement, so that it holds no lock
// and can be used again.
template <class Body>
auto SqlStatement::Handle::guarded(const Body& body) -> Result<decltype(body())> {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      statement.tryReset();
      return {};
    } else {
      auto value = body();
      statement.tryReset();
      return value;
    }
  } catch (const SQLite::Exception& error) {
    statement.tryReset();
    failure = error.getErrorCode();
    return failed(file, failure, error.what());
  }
}

Result<int> SqlStatement::run(std::span<const SqlValue> values) {
  return handle_->guarded([&] {
    handle_->bind(values);
    return handle_->statement.exec();
  });
}

Result<void> SqlStatement::query(std::initializer_list<SqlValue> values,
                                 const std::function<bool(const SqlRow&)>& row) {
  return handle_->guarded([&] {
    handle_->bind(std::span(values.begin(), values.size()));
    const SqlRow present(&handle_->statement);
    while (handle_->statement.executeStep()) {
      if (!row(present)) break;
    }
  });
}

bool SqlStatement::failure_may_pass() const {
  switch (handle_->failure & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:  // of attune.sqlite-wal or -shm
    case SQLITE_BUSY:      // another writer: a user's, or a manager that copies a lost store
    case SQLITE_LOCKED:
      return true;
    default:
      return false;
  }
}

Database::Database(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::filesystem::path& file, Mode mode, BusyWait busy) {
  const int flags =
      mode == Mode::create ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE : SQLite::OPEN_READONLY;
  const auto connect = [&](const std::string& name, int how) -> Result<Database> {
    try {
      auto handle =
          std::make_unique<Handle>(Handle{file.string(), SQLite::Database(name, how), busy});
      ::sqlite3_busy_handler(handle->database.getHandle(), &Handle::go_on, handle.get());
      // SQLite opens a file without reading it. The second PRAGMA reads it, so that a damaged file
      // is an error here.
      handle->database.exec("PRAGMA foreign_keys = ON; PRAGMA schema_version;");
      return Database(std::move(handle));
    } catch (const SQLite::Exception& error) {
      return failed(file.string(), error.getErrorCode(), error.what());
    }
  };
  Result<Database> database = connect(file.string(), flags);
  if (database || mode == Mode::create || ::access(file.c_str(), R_OK) != 0) return database;
  // A reader in WAL mode must make attune.sqlite-shm if it is missing, and may not write into this
  // folder. But the file is missing only while nobody has the store open for writing: then
  // attune.sqlite alone has everything, and can be read as an immutable file.
  if (::access(file.parent_path().c_str(), W_OK) == 0) return database;
  const auto looks = Handle::Looks::of(file.string());
  database = connect(immutable_uri(file.string()), flags | SQLite::OPEN_URI);
  if (database) database->handle_->immutable = looks;
  return database;
}

Result<void> Database::execute(const std::string& sql) {
  try {
    handle_->database.exec(sql);
    return {};
  } catch (const SQLite::Exception& error) {
    return failed(handle_->file, error.getErrorCode(), error.what());
  }
}

Result<SqlStatement> Database::prepare(const std::string& sql) {
  try {
    auto handle = std::make_unique<SqlStatement::Handle>(
        SqlStatement::Handle{handle_->file, SQLite::Statement(handle_->database, sql), 0});
    return SqlStatement(std::move(handle));
  } catch (const SQLite::Exception& error) {
    return failed(handle_->file, error.getErrorCode(), error.what());
  }
}

Result<std::int64_t> Database::integer(const std::string& sql) {
  try {
    return handle_->database.execAndGet(sql).getInt64();
  } catch (const SQLite::Exception& error) {
    return failed(handle_->file, error.getErrorCode(), error.what());
  }
}

void Database::wait(BusyWait busy) { handle_->busy = std::move(busy); }

std::int64_t Database::last_row() const { return handle_->database.getLastInsertRowid(); }

bool Database::has_moved() const {
  int moved = 0;
  ::sqlite3_file_control(handle_->database.getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0 || !handle_->immutable) return moved != 0;
  return Handle::Looks::of(handle_->file) != *handle_->immutable;
}

}  // namespace attune
