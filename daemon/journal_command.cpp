#include "daemon/journal_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/json.h"
#include "base/terminal_text.h"
#include "daemon/journal_reading.h"
#include "dispatcher/journal_frames.h"
#include "journal/place.h"
#include "os/atomic_file.h"

namespace attune {
namespace {

constexpr std::size_t kShown = 100;  // bytes of a payload

// Reads `bytes` as a journal. They must begin with a header record, which may be cut off.
Result<JournalReading> read_as_journal(const std::string& path, std::string_view bytes) {
  auto reading = read_journal(bytes);
  if (!reading.records.empty()) return reading;
  if (bytes.empty()) return fail(path + " is empty: no daemon has written to it yet");
  const auto head = read_head(bytes);
  const bool begun = head && head->kind == static_cast<std::uint8_t>(RecordKind::header);
  if (begun && reading.damage.empty()) return reading;
  if (begun || !reading.damage.empty()) return fail(path + ": " + reading.damage);
  return fail(path + " is no journal of attuned: it does not begin with a header record");
}

Result<void> check_header(std::string_view payload, const std::string& path) {
  const auto header = parse_json(payload, kJournalJson);
  const json format = header && header->is_object() ? header->value("format", json()) : json();
  if (is_known_format(format)) return {};
  return fail(fmt::format("{}: format {}: this attuned reads formats {} to {}", path,
                          dump_json(format), kOldestJournalFormat, kJournalFormat));
}

// A frame has a code, the rest of the payloads are JSON or empty.
std::pair<std::string_view, std::string_view> code_and_text(const RecordScanner::Item& item) {
  const bool frame = item.kind == RecordKind::command || item.kind == RecordKind::answer ||
                     item.kind == RecordKind::kept;
  if (!frame) return {{}, item.payload};
  return {item.payload.substr(0, 2),
          item.payload.substr(std::min<std::size_t>(2, item.payload.size()))};
}

std::string line_of(const NumberedRecord& record, const JournalCommand& command) {
  const auto& item = record.item;
  const auto [code, text] = code_and_text(item);
  const bool shortened = !command.full && text.size() > kShown;
  const std::string_view part = shortened ? text.substr(0, kShown) : text;
  if (command.as_json) {
    json line = {{"offset", item.offset}, {"kind", kind_name(item.kind)}};
    if (record.number) line["number"] = *record.number;
    if (!code.empty()) line["code"] = code;
    line["bytes"] = text.size();
    line["payload"] = part;
    return dump_json(line) + "\n";
  }
  const std::string number = record.number ? std::to_string(*record.number) : "";
  std::string line =
      fmt::format("{:>10}  {:<8} {:>7}  {}{}{}", item.offset, kind_name(item.kind), number,
                  terminal_line(code), code.empty() ? "" : " ", terminal_line(part));
  if (shortened) line += fmt::format("... ({} bytes)", text.size());
  while (line.back() == ' ') line.pop_back();
  return line + "\n";
}

std::string range(std::uint64_t before, std::uint64_t last) {
  if (last == before) return "none";
  return last == before + 1 ? fmt::format("1, number {}", last)
                            : fmt::format("{}, numbers {} to {}", last - before, before + 1, last);
}

std::string summary(const JournalReading& reading, std::size_t size) {
  std::string text =
      fmt::format("records   {} in {} bytes\n", reading.records.size(), reading.good);
  const bool snapshot =
      reading.records.size() > 1 && reading.records[1].item.kind == RecordKind::snapshot;
  if (snapshot) {
    text += fmt::format(
        "snapshot  {} bytes, after command {} and answer {}; of the answers before it {} are "
        "kept\n",
        reading.records[1].item.payload.size(), reading.snapshot_commands, reading.snapshot_answers,
        reading.kept);
  } else {
    text += "snapshot  none\n";
  }
  text += fmt::format("commands  {}\n", range(reading.commands_before, reading.commands));
  text += fmt::format("answers   {}\n", range(reading.answers_before, reading.answers));
  if (reading.damage.empty() && reading.good < size) {
    text += fmt::format(
        "torn      {} bytes from byte {} on: they were not written to their end, "
        "and are dropped by the next daemon\n",
        size - reading.good, reading.good);
  }
  return text;
}

// What can still be read behind the damage.
std::string dropped(std::string_view bytes, std::uint64_t from) {
  std::uint64_t commands = 0, answers = 0;
  std::size_t at = from;
  while (const auto found = find_record(bytes, at)) {
    const RecordHead head = read_head(bytes.substr(*found)).value();
    const auto kind = static_cast<RecordKind>(head.kind);
    commands += kind == RecordKind::command;
    answers += kind == RecordKind::answer || kind == RecordKind::kept;
    at = *found + head.record_size();
  }
  return fmt::format(
      "dropped   {} bytes from byte {} on, with {} commands and {} answers that can "
      "still be read\n",
      bytes.size() - from, from, commands, answers);
}

Result<std::string> read_bytes(FileSystem& files, const std::string& path) {
  const UniqueFd file = TRY(files.open(path, {}));
  return read_all(files, file.get(), path);
}

Result<int> dump(FileSystem& files, const JournalCommand& command, std::FILE* out) {
  const std::string bytes = TRY(read_bytes(files, command.file));
  const JournalReading reading = TRY(read_as_journal(command.file, bytes));
  for (const auto& record : reading.records) {
    // The reader of a pipe may have closed it.
    if (std::fputs(line_of(record, command).c_str(), out) < 0) return 1;
  }
  if (!reading.damage.empty()) return fail(command.file + ": " + reading.damage);
  return 0;
}

Result<int> verify(FileSystem& files, const JournalCommand& command, std::FILE* out) {
  const std::string bytes = TRY(read_bytes(files, command.file));
  const JournalReading reading = TRY(read_as_journal(command.file, bytes));
  std::fputs(summary(reading, bytes.size()).c_str(), out);
  if (!reading.records.empty()) TRY(check_header(reading.records[0].item.payload, command.file));
  if (reading.damage.empty()) return 0;
  return fail(fmt::format("{}: {}; \"attuned journal repair\" keeps what stands before it",
                          command.file, reading.damage));
}

Result<int> repair(FileSystem& files, const JournalCommand& command, std::FILE* out) {
  const std::string& path = command.file;
  if (command.skip_damaged) {
    return fail(
        "--skip-damaged: records behind a hole are of no use. A daemon goes on by doing again what "
        "the journal says, and every answer follows from all the commands before it; without one "
        "of them the others would be answered differently. Without --skip-damaged repair keeps "
        "what stands before the hole; the manager sends again what comes later, or its results");
  }
  // The lock keeps daemons out until the new file has its place.
  const UniqueFd file = TRY(open_locked(files, path, /*create=*/false));
  const std::string bytes = TRY(read_all(files, file.get(), path));
  const JournalReading reading = TRY(read_as_journal(path, bytes));
  if (reading.good == bytes.size()) {
    std::fputs("whole: there is nothing to repair\n", out);
    return 0;
  }
  if (reading.records.empty()) return fail(path + ": not even its header was written to its end");
  const std::string original = path + ".damaged";
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(original, error))) {
    // An interrupted repair may have left it: then it has the same bytes.
    const auto former = read_bytes(files, original);
    if (!former || *former != bytes) {
      return fail(original + " is there already: move it away first");
    }
  }
  TRY(write_file_atomically(files, original, bytes));
  TRY(write_file_atomically(files, path, std::string_view(bytes).substr(0, reading.good)));
  std::string text = reading.damage.empty() ? "torn      " : "damaged   " + reading.damage + "\n";
  if (reading.damage.empty()) text += fmt::format("at byte {}\n", reading.good);
  text += dropped(bytes, reading.good) + "original  " + original + "\n";
  text += summary(reading, reading.good);
  std::fputs(text.c_str(), out);
  return 0;
}

}  // namespace

int run_journal_command(FileSystem& files, const JournalCommand& command, std::FILE* out,
                        std::FILE* errors) {
  using Action = JournalCommand::Action;
  auto run = command.action == Action::dump     ? dump
             : command.action == Action::verify ? verify
                                                : repair;
  const auto code = run(files, command, out);
  std::fflush(out);
  if (code) return *code;
  std::fprintf(errors, "attuned journal: %s\n", code.error().message.c_str());
  return 1;
}

}  // namespace attune
